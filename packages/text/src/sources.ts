import { createHash } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { UserError } from '@hidden-schema/base';
import { readBlocks } from './lines.ts';
import { TEXT_SPLITS, type TextFormat, type TextSplit } from './settings.ts';

/** Where a corpus is: a file, a folder, `-` for standard input, several of them, or files for each split. */
export type CorpusInput = string | readonly string[] | Partial<Record<TextSplit, string | readonly string[]>>;

/** One file of a corpus, and the split it was given to, if to one. */
export interface TextSource {
  file: string;
  name: string;
  format: TextFormat;
  split: TextSplit | null;
}

/** What faults call standard input. */
export const INPUT_NAME = 'standard input';

const formatOfEnding: ReadonlyMap<string, TextFormat> = new Map([
  ['.txt', 'text'],
  ['.text', 'text'],
  ['.tsv', 'tsv'],
  ['.csv', 'csv'],
  ['.jsonl', 'jsonl'],
  ['.ndjson', 'jsonl'],
  ['.parquet', 'parquet'],
]);

const splitOfName: ReadonlyMap<string, TextSplit> = new Map([
  ['train', 'train'],
  ['training', 'train'],
  ['valid', 'valid'],
  ['validation', 'valid'],
  ['val', 'valid'],
  ['dev', 'valid'],
  ['test', 'test'],
]);

/** `train.txt`, and shards such as `train-00000-of-00002.parquet`; not `train_walks.txt`. */
const splitFile = /^([a-z]+)(?:[-_.]\d+(?:-of-\d+)?)?\.[a-z]+$/;

/** The files of a corpus; standard input is first written to `spool`. */
export async function resolveSources(
  input: CorpusInput,
  options: { format?: TextFormat; spool: string; stdin?: NodeJS.ReadableStream; signal?: AbortSignal },
): Promise<TextSource[]> {
  const sources: TextSource[] = [];
  const add = async (target: string, split: TextSplit | null) => {
    if (target === '-') sources.push(await spoolInput(options, split));
    else sources.push(...filesOf(target, options.format, split));
  };
  if (typeof input === 'string' || isList(input)) {
    for (const target of isList(input) ? input : [input]) await add(target, null);
  } else {
    for (const split of TEXT_SPLITS) {
      const targets = input[split] ?? [];
      for (const target of typeof targets === 'string' ? [targets] : targets) await add(target, split);
    }
  }
  if (sources.length === 0)
    throw new UserError('no corpus was given; expected a file, a folder or - for input');
  return checkSplits(sources);
}

const isList = (input: CorpusInput): input is readonly string[] => Array.isArray(input);

/** Files with and without a split cannot be mixed, and training needs texts. */
function checkSplits(sources: TextSource[]): TextSource[] {
  const assigned = sources.filter((source) => source.split !== null);
  if (assigned.length === 0) return sources;
  if (assigned.length < sources.length)
    throw new UserError(
      `${sources.find((source) => source.split === null)!.name} has no split while ${assigned[0]!.name} is for ${assigned[0]!.split}; name a split for all files or for none`,
    );
  if (!assigned.some((source) => source.split === 'train'))
    throw new UserError(
      `no training texts: ${assigned.map((source) => `${source.name} is for ${source.split}`).join(', ')}; expected a train file, or name one file to be split`,
    );
  return assigned.some((source) => source.split !== 'train')
    ? sources
    : sources.map((source) => ({ ...source, split: null }));
}

function filesOf(target: string, format: TextFormat | undefined, split: TextSplit | null): TextSource[] {
  const stats = fs.statSync(target, { throwIfNoEntry: false });
  if (!stats) throw new UserError(`${target} does not exist; expected a file or a folder of texts`);
  if (stats.isDirectory()) return folderFiles(target, format, split);
  return [{ file: target, name: path.basename(target), format: format ?? formatOf(target) ?? 'text', split }];
}

const formatOf = (file: string): TextFormat | undefined =>
  formatOfEnding.get(path.extname(file).toLowerCase());

/** Files named after splits, or where there are none every file of a known format. */
function folderFiles(folder: string, format: TextFormat | undefined, split: TextSplit | null): TextSource[] {
  const names = fs
    .readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.') && formatOf(entry.name))
    .map((entry) => entry.name)
    .sort();
  const source = (name: string, part: TextSplit | null): TextSource => {
    const file = path.join(folder, name);
    return { file, name, format: format ?? formatOf(name)!, split: part };
  };
  const named = names.flatMap((name) => {
    const part = splitOfName.get(splitFile.exec(name.toLowerCase())?.[1] ?? '');
    return part ? [source(name, split ?? part)] : [];
  });
  if (named.length > 0)
    return named.sort((a, b) => TEXT_SPLITS.indexOf(a.split!) - TEXT_SPLITS.indexOf(b.split!));
  if (names.length === 0)
    throw new UserError(
      `${folder} holds no corpus; expected files such as train.txt, train.tsv, train.csv, train.jsonl or train.parquet`,
    );
  return names.map((name) => source(name, split));
}

/** Standard input as a file, so that it can be hashed and read like any other. */
async function spoolInput(
  options: { format?: TextFormat; spool: string; stdin?: NodeJS.ReadableStream; signal?: AbortSignal },
  split: TextSplit | null,
): Promise<TextSource> {
  fs.mkdirSync(options.spool, { recursive: true });
  const file = path.join(options.spool, `input-${process.pid}-${Date.now()}`);
  const out = fs.createWriteStream(file, { flags: 'wx' });
  try {
    const input = (options.stdin ?? process.stdin) as Readable;
    for await (const block of readBlocks(input, INPUT_NAME, options.signal))
      if (!out.write(block)) await once(out, 'drain');
    out.end();
    await finished(out);
  } catch (error) {
    out.destroy();
    fs.rmSync(file, { force: true });
    throw error;
  }
  return { file, name: INPUT_NAME, format: options.format ?? 'text', split };
}

/** sha256 and size of a file, given back to the event loop between chunks so that it can be stopped. */
export async function hashSource(
  { file, name }: TextSource,
  onBytes: (count: number) => void,
  signal?: AbortSignal,
): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const block of readBlocks(file, name, signal)) {
    hash.update(block);
    bytes += block.length;
    onBytes(block.length);
  }
  return { sha256: hash.digest('hex'), bytes };
}
