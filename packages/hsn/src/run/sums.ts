import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import {
  hashFile,
  moveIntoPlace,
  openSealed,
  readRegular,
  reasonOf,
  sealedText,
  UserError,
  writeFileAtomic,
} from '@hidden-schema/base';

/** Sums of the files that answers are made of; sealed with a sum of itself. */
export const SUMS = 'sums.json';
const FORMAT = 1;

/** What a file becomes: its content, or a file that was written beside it. */
export type Content = string | Uint8Array | { readonly partial: string };

/** Files with sums in `sums.json`; those of checkpoints and of training stand in manifests, metrics have one a line. */
export const isAnswerFile = (name: string): boolean =>
  /^((names|graph|layout|evaluation)\.json|walks\.safetensors|analysis\/[\w-]+\.(json|jsonl|bin))$/.test(
    name,
  );

/** sha256 sums by name: two while a file is being replaced, of which either is right. */
export type Sums = Map<string, readonly string[]>;

export const sumsText = (sums: Sums): string =>
  sealedText({ format: FORMAT, files: Object.fromEntries([...sums].sort()) });

/** Reads sums; none where nothing was recorded. */
export function readSums(file: string): Sums {
  let text: string;
  try {
    text = readRegular(file, undefined, { follow: false }).toString('utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    throw error instanceof UserError ? error : new UserError(`cannot read ${file}: ${reasonOf(error)}`);
  }
  const sealed = openSealed(text);
  if (sealed?.format === FORMAT)
    return new Map(Object.entries(sealed.files as Record<string, readonly string[]>));
  throw new UserError(`${file} is damaged: expected it as it was written`);
}

export const sumOf = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** What is wrong with a file's content, if anything is; nothing is known of one without a sum. */
export const findDamage = (bytes: Uint8Array, known: readonly string[] | undefined): string | undefined =>
  known && sumFault(sumOf(bytes), known);

/** That a sum is not one of those that were recorded. */
export function sumFault(sum: string, known: readonly string[]): string | undefined {
  if (known.includes(sum)) return undefined;
  return `expected sha256 ${known.at(-1)!.slice(0, 12)}…, got ${sum.slice(0, 12)}…`;
}

interface Recorded {
  path(...parts: string[]): string;
  sums(): ReadonlyMap<string, readonly string[]>;
}

/**
 * Replaces files, each whole or not at all, with their sums. Until all are written either sum of a file is right, so that
 * a process that is killed leaves no file that seems damaged.
 */
export function putFiles(
  files: Recorded,
  contents: Readonly<Record<string, Content>>,
  targets: ReadonlyMap<string, string>,
): void {
  const before = files.sums();
  const fresh = new Map(Object.entries(contents).map(([name, content]) => [name, [contentSum(content)]]));
  const either = [...fresh].map(([name, sums]) => [name, [...(before.get(name) ?? []), ...sums]] as const);
  writeFileAtomic(files.path(SUMS), sumsText(new Map([...before, ...either])));
  for (const [name, content] of Object.entries(contents)) {
    const target = targets.get(name)!;
    if (typeof content === 'object' && 'partial' in content) moveIntoPlace(content.partial, target);
    else writeFileAtomic(target, content);
  }
  writeFileAtomic(files.path(SUMS), sumsText(new Map([...before, ...fresh])));
}

const contentSum = (content: Content): string =>
  typeof content === 'object' && 'partial' in content ? hashFile(content.partial).sha256 : sumOf(content);

/** Records sums of files as they are, for a run that has none. */
export function recordSums(files: Recorded & { answerFiles(): string[] }): void {
  const sums: Sums = new Map(
    files.answerFiles().map((name) => [name, [hashFile(files.path(...name.split('/'))).sha256]]),
  );
  writeFileAtomic(files.path(SUMS), sumsText(sums));
}

/** Sums of the files of a folder that is to become a run's, written into it beside those of files that stay. */
export function sealFolder(
  folder: string,
  staying: ReadonlyMap<string, readonly string[]> = new Map(),
): void {
  const names = fs.readdirSync(folder).filter(isAnswerFile);
  const own = names.map((name) => [name, [hashFile(path.join(folder, name)).sha256]] as const);
  writeFileAtomic(path.join(folder, SUMS), sumsText(new Map([...staying, ...own])));
}

/** Castagnoli's polynomial, bits reversed. */
const POLYNOMIAL = 0x82f63b78;

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
  return value;
});

export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = table[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** The form stored in record files: rotated and shifted, so that a checksum of a checksum stays useful. */
export function maskedCrc32c(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}
