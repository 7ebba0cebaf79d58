import fs from 'node:fs';
import path from 'node:path';
import { UserError } from '../errors.ts';
import { type Adjacency, edgeCount, edgeList } from './graphs.ts';
import {
  drawLanguage,
  SentenceSampler,
  type Sentences,
  type SyntheticLanguage,
  type SyntheticSettings,
  splitCounts,
} from './synthetic.ts';

export const SPLITS = ['train', 'valid', 'test'] as const;
export type SplitName = (typeof SPLITS)[number];

export const CORPUS_FORMAT = 'hsn-synthetic-corpus';

/** `corpus.json`: how the corpus was drawn; the same settings give the same files. */
export interface CorpusRecord {
  format: typeof CORPUS_FORMAT;
  version: 1;
  settings: SyntheticSettings;
  counts: {
    nodes: number;
    edges: number;
    reconnected: number;
    tokens_in_bags: number;
    tokens_shared: number;
    sentences: Record<SplitName, number>;
  };
}

export interface WriteOptions {
  /** Replace a corpus that is already there. */
  force?: boolean;
}

/** Everything a corpus folder may hold; `force` removes a folder only when it holds nothing else. */
const LAYOUT = new Set([
  ...SPLITS.flatMap((split) => [`${split}.txt`, `${split}_walks.txt`]),
  ...['adjacency.txt', 'edges.tsv', 'node_tokens.tsv', 'corpus.json'],
]);

const SENTENCES_PER_CHUNK = 8192;

/** Draws a synthetic corpus and writes it to `directory`, all of it or nothing. */
export function writeSyntheticCorpus(
  settings: SyntheticSettings,
  directory: string,
  options: WriteOptions = {},
): CorpusRecord {
  const language = drawLanguage(settings);
  try {
    const target = resolveTarget(directory);
    checkTarget(target, directory, options.force ?? false);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    removeStalePartials(target);
    return writeAndReplace(language, settings, target);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new UserError(`cannot write the corpus to ${directory}: ${message}; nothing was changed there`);
  }
}

/** Writes beside the target and moves there once all is written. */
function writeAndReplace(
  language: SyntheticLanguage,
  settings: SyntheticSettings,
  target: string,
): CorpusRecord {
  const partial = path.join(path.dirname(target), `.${path.basename(target)}.partial-${process.pid}`);
  fs.mkdirSync(partial);
  try {
    const record = writeFiles(language, settings, partial);
    replace(target, partial);
    return record;
  } catch (error) {
    fs.rmSync(partial, { recursive: true, force: true });
    throw error;
  }
}

/** A link to a folder is followed, so that the rename below replaces the folder and not the link. */
function resolveTarget(directory: string): string {
  return fs.existsSync(directory) ? fs.realpathSync(directory) : path.resolve(directory);
}

function checkTarget(target: string, directory: string, force: boolean): void {
  if (!fs.existsSync(target)) return;
  if (!fs.statSync(target).isDirectory()) {
    throw new UserError(
      `${directory} is a file; expected a folder to write the corpus to, choose another name`,
    );
  }
  const names = fs.readdirSync(target);
  if (names.length === 0) return;
  if (!force) {
    throw new UserError(
      `${directory} is not empty; choose another folder, or --force to replace the corpus there`,
    );
  }
  const foreign = names.filter((name) => !LAYOUT.has(name));
  if (foreign.length === 0) return;
  throw new UserError(
    `${directory} holds more than a corpus (${foreign.slice(0, 3).join(', ')}${foreign.length > 3 ? ', …' : ''}), so --force will not replace it; choose another folder`,
  );
}

/** Folders left by a writer that was killed; one that still runs keeps its own. */
function removeStalePartials(target: string): void {
  const prefix = `.${path.basename(target)}.partial-`;
  for (const name of fs.readdirSync(path.dirname(target))) {
    const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : Number.NaN;
    if (!Number.isInteger(pid) || pid < 1 || (pid !== process.pid && isRunning(pid))) continue;
    fs.rmSync(path.join(path.dirname(target), name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The old corpus is moved aside first and comes back if the new one cannot take its place. */
function replace(target: string, partial: string): void {
  const aside = `${partial}-old`;
  const existed = fs.existsSync(target);
  if (existed) fs.renameSync(target, aside);
  try {
    fs.renameSync(partial, target);
  } catch (error) {
    if (existed) fs.renameSync(aside, target);
    throw error;
  }
  fs.rmSync(aside, { recursive: true, force: true });
}

function writeFiles(language: SyntheticLanguage, settings: SyntheticSettings, folder: string): CorpusRecord {
  const sizes = splitCounts(settings.sentences, settings.split);
  const sampler = new SentenceSampler(language, settings);
  SPLITS.forEach((split, part) => {
    writeSplit(path.join(folder, split), sizes[part]!, sampler, language.vocabulary, settings.length);
  });
  const { adjacency } = language;
  writeText(path.join(folder, 'adjacency.txt'), adjacencyText(adjacency));
  writeText(
    path.join(folder, 'edges.tsv'),
    edgeList(adjacency)
      .map((edge) => `${edge.join('\t')}\n`)
      .join(''),
  );
  writeText(path.join(folder, 'node_tokens.tsv'), bagsText(language));
  const [train, valid, test] = sizes;
  const record: CorpusRecord = {
    format: CORPUS_FORMAT,
    version: 1,
    settings: { ...settings, graphOptions: language.model.options },
    counts: {
      nodes: adjacency.nodes,
      edges: edgeCount(adjacency),
      reconnected: language.reconnected.length,
      ...tokenCounts(language),
      sentences: { train, valid, test },
    },
  };
  writeText(path.join(folder, 'corpus.json'), `${JSON.stringify(record, null, 2)}\n`);
  return record;
}

/** Sentences are drawn and written chunk by chunk: memory does not grow with their number. */
function writeSplit(
  stem: string,
  count: number,
  sampler: SentenceSampler,
  names: string[],
  length: number,
): void {
  const text = fs.openSync(`${stem}.txt`, 'wx');
  const walks = fs.openSync(`${stem}_walks.txt`, 'wx');
  try {
    for (let left = count; left > 0; left -= SENTENCES_PER_CHUNK) {
      const chunk: Sentences = sampler.next(Math.min(left, SENTENCES_PER_CHUNK));
      writeAll(
        text,
        rowsText(chunk.tokens, length, (token) => names[token]!),
      );
      writeAll(walks, rowsText(chunk.walks, length, String));
    }
    fs.fsyncSync(text);
    fs.fsyncSync(walks);
  } finally {
    fs.closeSync(text);
    fs.closeSync(walks);
  }
}

function rowsText(values: Int32Array, length: number, name: (value: number) => string): string {
  let text = '';
  for (let at = 0; at < values.length; at++) {
    text += name(values[at]!) + ((at + 1) % length === 0 ? '\n' : ' ');
  }
  return text;
}

/** A single write may take only a part, as on a disk that is nearly full. */
function writeAll(file: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) done += fs.writeSync(file, bytes, done);
}

function writeText(file: string, text: string): void {
  fs.writeFileSync(file, text, { flag: 'wx', flush: true });
}

function adjacencyText({ nodes, data }: Adjacency): string {
  return Array.from(
    { length: nodes },
    (_, i) => `${data.subarray(i * nodes, (i + 1) * nodes).join(' ')}\n`,
  ).join('');
}

function bagsText({ adjacency, bag, bags, vocabulary }: SyntheticLanguage): string {
  const line = (node: number) =>
    Array.from(bags.subarray(node * bag, (node + 1) * bag), (token) => vocabulary[token]!).sort();
  return Array.from({ length: adjacency.nodes }, (_, node) => `${node}\t${line(node).join(' ')}\n`).join('');
}

function tokenCounts({ bags }: SyntheticLanguage): { tokens_in_bags: number; tokens_shared: number } {
  const uses = new Map<number, number>();
  for (const token of bags) uses.set(token, (uses.get(token) ?? 0) + 1);
  const shared = [...uses.values()].filter((nodes) => nodes > 1).length;
  return { tokens_in_bags: uses.size, tokens_shared: shared };
}
