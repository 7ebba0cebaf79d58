import { createHash } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { UserError } from '@hidden-schema/base';
import type { TableLayout } from './columns.ts';
import { type DocumentFile, documentFiles, hashDocuments, isDocument } from './documents.ts';
import { readBlocks } from './lines.ts';
import { TEXT_SPLITS, type TextFormat, type TextSettings, type TextSplit } from './settings.ts';

/** Where a corpus is: a file, a folder, `-` for standard input, several of them, or files for each split. */
export type CorpusInput = string | readonly string[] | Partial<Record<TextSplit, string | readonly string[]>>;

/** One file of a corpus, and the split it was given to, if to one. */
export interface TextSource {
  /** A file, or a folder of documents. */
  file: string;
  name: string;
  format: TextFormat;
  split: TextSplit | null;
  /** Of a table whose layout was found in it. */
  layout?: TableLayout;
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
  ['.json', 'json'],
  ['.parquet', 'parquet'],
  ['.md', 'document'],
  ['.markdown', 'document'],
  ['.html', 'document'],
  ['.htm', 'document'],
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

/** How files are found. */
type FindOptions = Partial<Pick<TextSettings, 'format' | 'layout'>>;

/** The files of a corpus; standard input is first written to `spool`. */
export async function resolveSources(
  input: CorpusInput,
  options: FindOptions & { spool: string; stdin?: NodeJS.ReadableStream; signal?: AbortSignal },
): Promise<TextSource[]> {
  const sources: TextSource[] = [];
  const add = async (target: string, split: TextSplit | null) => {
    if (target === '-') sources.push(await spoolInput(options, split));
    else sources.push(...filesOf(target, options, split));
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

function filesOf(target: string, options: FindOptions, split: TextSplit | null): TextSource[] {
  const stats = fs.statSync(target, { throwIfNoEntry: false });
  if (!stats) throw new UserError(`${target} does not exist; expected a file or a folder of texts`);
  if (stats.isDirectory()) return folderFiles(target, options, split);
  const format = options.format ?? formatOf(target) ?? 'text';
  return [{ file: target, name: path.basename(target), format, split }];
}

const formatOf = (file: string): TextFormat | undefined =>
  formatOfEnding.get(path.extname(file).toLowerCase());

const splitOf = (name: string): TextSplit | undefined =>
  splitOfName.get(splitFile.exec(name.toLowerCase())?.[1] ?? '');

/** Files named after splits; where there are none, a folder of documents, or every file of a known format. */
function folderFiles(folder: string, options: FindOptions, split: TextSplit | null): TextSource[] {
  const { format, layout = 'detected' } = options;
  const entries = fs
    .readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !entry.name.startsWith('.'))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const names = entries
    .filter((entry) => !entry.isDirectory() && (formatOf(entry.name) ?? 'document') !== 'document')
    .map((entry) => entry.name);
  const source = (name: string, part: TextSplit | null): TextSource => {
    const file = path.join(folder, name);
    return { file, name, format: format ?? formatOf(name)!, split: part };
  };
  const named = names.flatMap((name) => (splitOf(name) ? [source(name, split ?? splitOf(name)!)] : []));
  if (named.length > 0)
    return named.sort((a, b) => TEXT_SPLITS.indexOf(a.split!) - TEXT_SPLITS.indexOf(b.split!));
  if (layout === 'detected' && (format === undefined || format === 'document')) {
    const documents = documentFolders(folder, entries, split, format === 'document');
    if (documents.length > 0) return documents;
  }
  if (names.length === 0)
    throw new UserError(
      `${folder} holds no corpus; expected a table such as train.csv, train.tsv, train.jsonl or train.parquet, or documents: .txt, .md or .html files, in a folder for each label`,
    );
  return names.map((name) => source(name, split));
}

/**
 * A folder of documents: .txt, .md and .html files, in folders inside it or several of them beside each other. Folders that
 * are called train, valid and test are these splits. A folder with tables is none unless that is asked for.
 */
function documentFolders(
  folder: string,
  entries: readonly fs.Dirent[],
  split: TextSplit | null,
  asked: boolean,
): TextSource[] {
  const folders = entries.filter((entry) => entry.isDirectory());
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  if (!asked && files.some((name) => formatOf(name) !== undefined && !isDocument(name))) return [];
  const parts = folders.flatMap(({ name }) => {
    const part = splitOfName.get(name.toLowerCase());
    const file = path.join(folder, name);
    return part && split === null && documentFiles(file).length > 0
      ? [{ file, name, format: 'document' as const, split: part }]
      : [];
  });
  if (parts.some((part) => part.split === 'train'))
    return parts.sort((a, b) => TEXT_SPLITS.indexOf(a.split) - TEXT_SPLITS.indexOf(b.split));
  const documents = documentFiles(folder);
  // One file of lines is a corpus of its lines.
  const lines = documents.length === 1 && formatOf(documents[0]!.file) === 'text' && !asked;
  if (documents.length === 0 || lines) return [];
  return [{ file: folder, name: path.basename(path.resolve(folder)), format: 'document', split }];
}

/** Standard input as a file, so that it can be hashed and read like any other. */
async function spoolInput(
  options: FindOptions & { spool: string; stdin?: NodeJS.ReadableStream; signal?: AbortSignal },
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

/** A file's content: sha256 and size, and how the file stood when they were read. */
export interface SourceSum {
  sha256: string;
  bytes: number;
  stamp: string;
}

/** Sums of files, given back to the event loop between chunks so that it can be stopped. */
export async function hashSources(
  sources: readonly TextSource[],
  onBytes: (done: number, total: number) => void,
  signal?: AbortSignal,
): Promise<SourceSum[]> {
  const parts = sources.map((source) => partsOf(source));
  const total = parts.flat().reduce((sum, { file }) => sum + fs.statSync(file).size, 0);
  let done = 0;
  const hashFile = async (file: string, name: string) => {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const block of readBlocks(file, name, signal)) {
      hash.update(block);
      bytes += block.length;
      done += block.length;
      onBytes(done, total);
    }
    return { sha256: hash.digest('hex'), bytes };
  };
  const sums: SourceSum[] = [];
  for (const [at, source] of sources.entries()) {
    const stamp = stampOf(source);
    const sum = isFolder(source)
      ? await hashDocuments(parts[at]!, hashFile)
      : await hashFile(source.file, source.name);
    sums.push({ ...sum, stamp });
  }
  return sums;
}

const isFolder = ({ file, format }: TextSource): boolean =>
  format === 'document' && fs.statSync(file).isDirectory();

/** The files that a source is made of. */
const partsOf = (source: TextSource): readonly Pick<DocumentFile, 'file' | 'name'>[] =>
  isFolder(source) ? documentFiles(source.file) : [source];

/** Refuses files that were written to between their hashing and their reading. */
export function refuseChanged(sources: readonly TextSource[], sums: readonly SourceSum[]): void {
  const changed = sources.find((source, at) => stampOf(source) !== sums[at]!.stamp);
  if (changed)
    throw new UserError(`${changed.name} was changed while it was read; try again once it is still`);
}

function stampOf(source: TextSource): string {
  const stamps = partsOf(source).map(({ file }) => {
    const { dev, ino, size, mtimeNs, ctimeNs } = fs.statSync(file, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
  });
  return stamps.length === 1 ? stamps[0]! : createHash('sha256').update(stamps.join('\n')).digest('hex');
}
