import path from 'node:path';
import { reasonOf, UserError } from '@hidden-schema/base/errors';
import type { TextSettings } from '@hidden-schema/text';
import type { Command } from 'commander';

export interface TextFlags {
  inputFormat?: string;
  textColumn?: string;
  labelColumn?: string;
  timeColumn?: string;
  delimiter?: string;
  header?: boolean;
  encoding?: string;
  onBadUtf8?: string;
  duplicates?: string;
  clean?: boolean;
  stopWords?: string;
}

/** How texts are read, for every verb that reads some. */
export function addTextOptions(command: Command): Command {
  return command
    .option(
      '--text-column <name>',
      'column with the texts: a name, a number, or a path in JSON (default: text)',
    )
    .option('--label-column <name>', 'column with the labels (default: label, where there is one)')
    .option('--delimiter <char>', 'what separates columns, such as ";" or tab (default: found in the file)')
    .option('--header', 'the first row names the columns (default: found in the file)')
    .option('--no-header', 'no row names the columns: they are numbers from 1')
    .option('--encoding <name>', 'such as windows-1252 (default: UTF-8, or UTF-16 where the file says so)')
    .option('--on-bad-utf8 <what>', 'error, replace or skip (default: error)')
    .option('--no-clean', 'keep markup, addresses and tags of news agencies in texts')
    .option('--duplicates <what>', 'keep or remove equal sentences (default: keep)');
}

/** The flags as settings, refused where they name nothing that there is. */
export async function textSettings(flags: TextFlags): Promise<Partial<TextSettings>> {
  const { BAD_UTF8_POLICIES, TEXT_FORMATS } = await import('@hidden-schema/text/settings');
  return {
    ...(flags.inputFormat ? { format: oneOf('--input-format', flags.inputFormat, TEXT_FORMATS) } : {}),
    ...(flags.textColumn ? { textColumn: flags.textColumn } : {}),
    ...(flags.labelColumn ? { labelColumn: flags.labelColumn } : {}),
    ...(flags.timeColumn ? { timeColumn: flags.timeColumn } : {}),
    ...(flags.delimiter ? { delimiter: delimiterOf(flags.delimiter) } : {}),
    ...(flags.header === undefined ? {} : { header: flags.header }),
    ...(flags.encoding ? { encoding: flags.encoding } : {}),
    ...(flags.onBadUtf8 ? { onBadUtf8: oneOf('--on-bad-utf8', flags.onBadUtf8, BAD_UTF8_POLICIES) } : {}),
    ...(flags.clean === false ? { clean: false } : {}),
    ...(flags.stopWords === undefined ? {} : { stopWords: await stopWordsIn(flags.stopWords) }),
    ...(flags.duplicates
      ? { duplicates: oneOf('--duplicates', flags.duplicates, ['keep', 'remove'] as const) }
      : {}),
  };
}

/** The words of a file, in lines or between spaces; lines that begin with # are notes. */
async function stopWordsIn(file: string): Promise<string[]> {
  const { readText } = await import('@hidden-schema/base/files');
  const expected = 'expected words, a line each';
  let text: string;
  try {
    text = readText(file);
  } catch (error) {
    throw new UserError(`cannot read the stop words ${file}: ${reasonOf(error)}; ${expected}`);
  }
  const lines = text.split('\n').filter((line) => !line.startsWith('#'));
  const words = lines.flatMap((line) => line.toLowerCase().match(/[\p{L}\p{M}\p{N}'’]+/gu) ?? []);
  if (words.length === 0) throw new UserError(`${file} has no words; ${expected}`);
  return [...new Set(words)];
}

/** A delimiter as people can type it. */
const delimiterOf = (written: string): string =>
  ['tab', '\\t'].includes(written.toLowerCase()) ? '\t' : written;

/** What a flag takes one of. */
export function oneOf<T extends string>(flag: string, value: string, known: readonly T[]): T {
  const found = known.find((one) => one === value);
  if (found !== undefined) return found;
  throw new UserError(`${flag} takes one of ${known.join(', ')}, got ${value}`);
}

/** The one of some formats that a file's ending names. */
export const byEnding = <T extends string>(file: string, formats: readonly T[]): T | undefined =>
  formats.find((format) => path.extname(file).toLowerCase() === `.${format}`);

/** A whole number from 1 that a flag gives, or nothing. */
export function wholeNumber<T extends string | undefined>(
  flag: string,
  text: T,
  least?: number,
): T extends string ? number : number | undefined;
export function wholeNumber(flag: string, text: string | undefined, least = 1): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() === '' || !Number.isInteger(value) || value < least)
    throw new UserError(`${flag} takes a whole number from ${least}, got ${text}`);
  return value;
}
