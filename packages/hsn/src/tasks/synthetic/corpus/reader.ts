import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { Random, UserError } from '@hidden-schema/base';
import { type Adjacency, hasEdge } from './graphs.ts';
import { type Bags, readAdjacency, readBags } from './hidden-graph.ts';
import { nodeNumber, type Rows, readRows, TokenNumbers } from './sentences.ts';
import { SYNTHETIC_DEFAULTS, splitCounts } from './synthetic.ts';
import { CORPUS_FORMAT, type CorpusRecord, SPLITS, type SplitName } from './writer.ts';

/** Sentences of one split: tokens (and the true walks, where known) row-major [count, length]. */
export interface CorpusSplit {
  count: number;
  tokens: Int32Array;
  walks?: Int32Array;
}

/** A corpus of sentences of one length; what is known of the truth beside it. */
export interface SyntheticCorpus {
  directory: string;
  vocabulary: string[];
  length: number;
  splits: Record<SplitName, CorpusSplit>;
  bags?: Bags;
  truth?: Adjacency;
  /** `corpus.json`, when the corpus was drawn by this program. */
  generator?: CorpusRecord;
  /** What the reader did that the user should know. */
  notes: string[];
  /** sha256 over the files read: the same data give the same fingerprint, wherever they lie. */
  fingerprint: string;
}

export interface ReadOptions {
  /** Draws the sentences of valid and test from train where those files are missing. */
  seed?: number;
}

/** Reads a folder written by `hsn synth`, one of the paper's authors, or train.txt alone. */
export function readSyntheticCorpus(directory: string, options: ReadOptions = {}): SyntheticCorpus {
  checkFolder(directory);
  const notes: string[] = [];
  const hash = createHash('sha256');
  const note = (name: string, sha256: string) => hash.update(`${name}\0${sha256}\0`);
  const bagFile = present(directory, 'node_tokens.tsv');
  const known = bagFile === undefined ? undefined : readBags(bagFile);
  if (known) note('node_tokens.tsv', known.sha256);
  const graphFile = present(directory, 'adjacency.txt');
  const graph = graphFile === undefined ? undefined : readAdjacency(graphFile, known?.bags.nodes);
  if (graph) note('adjacency.txt', graph.sha256);
  const numbers = new TokenNumbers(known?.vocabulary);
  const { text, walks } = readText(directory, numbers);
  for (const rows of [...text.values(), ...walks.values()]) {
    note(rows.name, rows.sha256);
    if (rows.blank > 0)
      notes.push(`${rows.name}: skipped ${rows.blank} blank ${rows.blank === 1 ? 'line' : 'lines'}`);
  }
  for (const [split, rows] of walks) checkWalks(text.get(split)!, rows, known?.bags, graph?.truth);
  const generator = readRecord(directory, notes);
  return {
    directory,
    vocabulary: numbers.vocabulary,
    length: text.get('train')!.length,
    splits: makeSplits(text, walks, options.seed ?? 1, notes),
    ...(known ? { bags: known.bags } : {}),
    ...(graph ? { truth: graph.truth } : {}),
    ...(generator ? { generator } : {}),
    notes,
    fingerprint: hash.digest('hex'),
  };
}

function checkFolder(directory: string): void {
  const stat = fs.statSync(directory, { throwIfNoEntry: false });
  if (!stat)
    throw new UserError(
      `the corpus folder ${directory} does not exist; check the path, or draw one with "hsn synth"`,
    );

  if (!stat.isDirectory())
    throw new UserError(`${directory} is a file; expected a folder that holds train.txt`);
  if (!present(directory, 'train.txt'))
    throw new UserError(`${directory} has no train.txt; expected a file with one sentence a line`);
}

function present(directory: string, name: string): string | undefined {
  const file = path.join(directory, name);
  return fs.existsSync(file) ? file : undefined;
}

/** Sentences and walks of the splits that are there; train comes first and gives the length. */
function readText(directory: string, numbers: TokenNumbers) {
  const text = new Map<SplitName, Rows>();
  const walks = new Map<SplitName, Rows>();
  for (const split of SPLITS) {
    const file = present(directory, `${split}.txt`);
    if (!file) continue;
    const rows = readRows(file, text.get('train')?.length, (token, name, line) =>
      numbers.number(token, name, line),
    );
    if (split === 'train' && rows.count === 0)
      throw new UserError(`train.txt in ${directory} is empty; expected one sentence a line`);

    text.set(split, rows);
  }
  numbers.check();
  for (const split of text.keys()) {
    const file = present(directory, `${split}_walks.txt`);
    if (file) walks.set(split, readRows(file, text.get('train')!.length, nodeNumber));
  }
  return { text, walks };
}

/** A walk belongs to the sentence in the same place: every token must be in the bag of its node. */
function checkWalks(sentences: Rows, walks: Rows, bags?: Bags, truth?: Adjacency): void {
  if (walks.count !== sentences.count)
    throw new UserError(
      `${walks.name} has ${walks.count} walks, but ${sentences.name} has ${sentences.count} sentences; expected one walk a sentence`,
    );

  const { length } = sentences;
  const nodes = bags?.nodes ?? truth?.nodes;
  const width = bags ? bags.probabilities.length / bags.nodes : 0;
  for (let at = 0; at < walks.values.length; at++) {
    const node = walks.values[at]!;
    const row = Math.floor(at / length);
    const where = () => `${walks.name}:${walks.lines[row]}`;
    if (nodes !== undefined && node >= nodes)
      throw new UserError(`${where()} passes node ${node}, but the nodes are 0 to ${nodes - 1}`);

    if (bags && bags.probabilities[node * width + sentences.values[at]!] === 0)
      throw new UserError(
        `${where()} does not match ${sentences.name}:${sentences.lines[row]}: token ${(at % length) + 1} is not in the bag of node ${node}`,
      );

    if (truth && at % length > 0 && !hasEdge(truth, walks.values[at - 1]!, node))
      throw new UserError(
        `${where()} steps from node ${walks.values[at - 1]} to ${node}, which adjacency.txt does not link`,
      );
  }
}

/** Splits as found; a missing one takes its usual share of train, drawn by the seed. */
function makeSplits(
  text: Map<SplitName, Rows>,
  walks: Map<SplitName, Rows>,
  seed: number,
  notes: string[],
): Record<SplitName, CorpusSplit> {
  const { length, count } = text.get('train')!;
  const shares = SYNTHETIC_DEFAULTS.split.map((share, part) =>
    part > 0 && text.has(SPLITS[part]!) ? 0 : share,
  );
  const sizes = splitCounts(count, [shares[0]!, shares[1]!, shares[2]!]);
  const order = Int32Array.from({ length: count }, (_, row) => row);
  const missing = SPLITS.filter((split) => !text.has(split));
  if (missing.length > 0) {
    new Random(seed).shuffle(order);
    notes.push(
      `${missing.map((split) => `${split}.txt`).join(' and ')} not found: ${missing.map((split) => `${sizes[SPLITS.indexOf(split)]} sentences for ${split}`).join(' and ')} taken from the ${count} of train.txt (seed ${seed})`,
    );
  }
  const starts = [0, sizes[0], sizes[0] + sizes[1], count];
  const make = (split: SplitName, part: number): CorpusSplit => {
    const own = text.has(split) && (split !== 'train' || missing.length === 0);
    const source = own ? split : 'train';
    const rows = own ? undefined : order.subarray(starts[part]!, starts[part + 1]!);
    const take = (from: Rows) => (rows ? gather(from.values, length, rows) : from.values);
    const known = walks.get(source);
    const found = text.get(source)!;
    return {
      count: rows?.length ?? found.count,
      tokens: take(found),
      ...(known ? { walks: take(known) } : {}),
    };
  };
  return { train: make('train', 0), valid: make('valid', 1), test: make('test', 2) };
}

function gather(values: Int32Array, length: number, rows: Int32Array): Int32Array {
  const result = new Int32Array(rows.length * length);
  rows.forEach((row, at) => {
    result.set(values.subarray(row * length, (row + 1) * length), at * length);
  });
  return result;
}

/** The record only names the graph model; a foreign or broken one is ignored with a note. */
function readRecord(directory: string, notes: string[]): CorpusRecord | undefined {
  const file = present(directory, 'corpus.json');
  if (!file) return undefined;
  try {
    const record = JSON.parse(fs.readFileSync(file, 'utf8')) as CorpusRecord;
    if (record?.format === CORPUS_FORMAT && record.version === 1 && record.settings) return record;
  } catch {
    // Falls through to the note: unreadable and foreign records are treated alike.
  }
  notes.push('corpus.json is not a record of hsn synth and was ignored');
  return undefined;
}
