import fs from 'node:fs';
import { hashFile, readRegular, reasonOf, UserError } from '@hidden-schema/base';
import type { OpenedRun } from '@hidden-schema/hsn/open';
import { DamagedFile, RunChanged } from '@hidden-schema/hsn/run/edit-record';
import type { SplitName } from '@hidden-schema/hsn/tasks/synthetic/corpus/writer';
import { nearestWalks } from '../measures/highest.ts';
import { stepWeights } from '../measures/symbol-uses.ts';
import {
  bytesAt,
  ENCODED_FORMAT,
  type EncodedManifest,
  EncodedWriter,
  layoutOf,
  type StoredSentence,
} from './encoded-writer.ts';
import { readSentences, runCorpus } from './run-corpus.ts';

export interface EncodedSentence {
  /** Its place among the encoded sentences. */
  index: number;
  split: SplitName;
  text: string;
  label: string | null;
  walk: number[];
  /** Of each step given the one before. */
  probabilities: number[];
  /** How much of the text each step tells, where the model says. */
  weights?: number[];
}

/** Sentences of one reading, where all are read. */
const READ_AT_ONCE = 256;

/**
 * Sentences of a run's corpus with their walks, stored with the run. Walks and labels are in memory (2 bytes a step);
 * texts stay on disk and are read page by page, so that a million sentences remain usable.
 */
export class EncodedCorpus {
  readonly manifest: EncodedManifest;
  /** Its files' name without an ending. */
  readonly file: string;
  readonly count: number;
  /** Sentences in the whole corpus. */
  readonly total: number;
  /** K and L. */
  readonly symbols: number;
  readonly length: number;
  readonly step: number;
  readonly labels: readonly string[];
  /** [N, L] */
  readonly walks: Uint16Array;
  /** Number of each sentence's label; −1 for none. */
  readonly labelOf: Int16Array;
  readonly #offsets: Float64Array;
  readonly #lines: number;
  #weights: Float32Array | undefined;

  constructor(run: OpenedRun['run'], manifest: EncodedManifest) {
    const { files } = run;
    this.manifest = manifest;
    this.file = files.path('analysis', 'encoded');
    const { count, length } = manifest;
    [this.count, this.total, this.labels] = [count, manifest.total, manifest.labels];
    [this.symbols, this.length, this.step] = [manifest.symbols, length, manifest.step];
    const places = layoutOf(count, length);
    const [lines, bin] = ['jsonl', 'bin'].map((ending) => files.path('analysis', `encoded.${ending}`));
    const sums = files.sums();
    checkSum(lines!, manifest.files?.jsonl.sha256 ?? sums.get('analysis/encoded.jsonl')?.at(-1));
    checkSum(bin!, manifest.files?.bin.sha256 ?? sums.get('analysis/encoded.bin')?.at(-1));
    const table = readRegular(bin!, Number.POSITIVE_INFINITY, { follow: false });
    if (table.length !== places.bytes)
      throw new DamagedFile(`${bin} is damaged: expected ${places.bytes} bytes, got ${table.length}`);
    this.#offsets = new Float64Array(bytesAt(table, places.offsets, 8 * (count + 1)));
    this.walks = new Uint16Array(bytesAt(table, places.walks, 2 * count * length));
    this.labelOf = new Int16Array(bytesAt(table, places.labels, 2 * count));
    this.#lines = files.open('analysis', 'encoded.jsonl');
  }

  /** How much each step counts (`stepWeights`), by how much of its text it tells. Read when first asked for. [N, L] */
  get weights(): Float32Array {
    if (this.#weights) return this.#weights;
    const all = new Float32Array(this.count * this.length);
    for (const { index, walk, weights } of this.sentences())
      all.set(stepWeights(walk, weights), index * this.length);
    this.#weights = all;
    return all;
  }

  walk(index: number): Uint16Array {
    return this.walks.subarray(index * this.length, (index + 1) * this.length);
  }

  sentence(index: number): EncodedSentence {
    if (!Number.isInteger(index) || index < 0 || index >= this.count)
      throw new RangeError(`sentence ${index} of ${this.count}`);
    return this.#read(index, 1)[0]!;
  }

  /** All sentences in turn, read many at a time. */
  *sentences(): Generator<EncodedSentence> {
    for (let first = 0; first < this.count; first += READ_AT_ONCE)
      yield* this.#read(first, Math.min(READ_AT_ONCE, this.count - first));
  }

  #read(first: number, count: number): EncodedSentence[] {
    const start = this.#offsets[first]!;
    const bytes = Buffer.alloc(this.#offsets[first + count]! - start);
    fs.readSync(this.#lines, bytes, 0, bytes.length, start);
    return Array.from({ length: count }, (_, at) => {
      const index = first + at;
      const line = bytes.toString('utf8', this.#offsets[index]! - start, this.#offsets[index + 1]! - start);
      const { steps, ...stored } = JSON.parse(line) as StoredSentence;
      return { index, ...stored, probabilities: steps };
    });
  }

  /** Sentences from `offset` on: all, those whose walk is on a symbol, those of a label, or both. */
  page(
    offset: number,
    limit: number,
    of: { symbol?: number; label?: string } = {},
  ): { total: number; sentences: EncodedSentence[] } {
    const chosen: number[] = [];
    let total = 0;
    const label = of.label === undefined ? undefined : this.labels.indexOf(of.label);
    for (let n = 0; n < this.count; n++) {
      if (label !== undefined && this.labelOf[n] !== label) continue;
      if (of.symbol !== undefined && !this.#visits(n, of.symbol)) continue;
      if (total >= offset && chosen.length < limit) chosen.push(n);
      total++;
    }
    return { total, sentences: chosen.map((n) => this.sentence(n)) };
  }

  /** Without a view of the walk, which would be most of the time that a page takes. */
  #visits(index: number, symbol: number): boolean {
    const end = (index + 1) * this.length;
    for (let at = index * this.length; at < end; at++) if (this.walks[at] === symbol) return true;
    return false;
  }

  /** The sentences whose walks are most like a walk. */
  nearest(
    walk: ArrayLike<number>,
    options: { limit?: number; except?: number } = {},
  ): { sentence: EncodedSentence; shared: number; common: number }[] {
    return nearestWalks(this.walks, this.length, walk, options).map(({ index, ...rest }) => ({
      sentence: this.sentence(index),
      ...rest,
    }));
  }

  close(): void {
    fs.closeSync(this.#lines);
  }

  /** What `using` calls at the end of a block. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/** Compares a file with the sum that was written with it, where one was. */
function checkSum(file: string, expected: string | undefined): void {
  const sum = expected && hashFile(file).sha256;
  if (sum !== expected)
    throw new DamagedFile(
      `${file} is damaged: expected sha256 ${expected!.slice(0, 12)}…, got ${sum!.slice(0, 12)}…`,
    );
}

/** How many sentences are read into walks, and who is told. */
export interface EncodingOptions {
  /** Sentences at most, those of the test split first; 5000 unless given, or 100 000 where vectors are stored. */
  limit?: number | undefined;
  signal?: AbortSignal | undefined;
  onProgress?: ((done: number, total: number) => void) | undefined;
}

const defaultLimit = 5000;
/** Walks that are read from stored vectors come quickly. */
const quickLimit = 100_000;

function limitOf(opened: OpenedRun): number {
  const quick = opened.kind === 'language' && opened.model.encoder.reads === 'points';
  return quick ? quickLimit : defaultLimit;
}

/** What is stored with a run for the checkpoint that is open. */
export function openEncoded(opened: OpenedRun): EncodedCorpus | undefined {
  const { files } = opened.run;
  try {
    return openFiles(opened);
  } catch (error) {
    if (!(error instanceof DamagedFile)) throw error;
    // Another process may be replacing them; under the lock none is.
    return files.unlessDamaged(() => files.locked(() => openFiles(opened)));
  }
}

function openFiles({ run, step, symbols, length }: OpenedRun): EncodedCorpus | undefined {
  const manifest = run.files.readJson<EncodedManifest>('analysis/encoded.json');
  const same =
    manifest?.format === ENCODED_FORMAT &&
    manifest.created === run.identity &&
    manifest.step === step &&
    manifest.symbols === symbols &&
    manifest.length === length;
  if (!same) return undefined;
  try {
    return new EncodedCorpus(run, manifest);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The encoded sentences of a run: what is stored, or where that is missing or too few, read now and stored. */
export async function encodedCorpus(
  opened: OpenedRun,
  options: EncodingOptions = {},
): Promise<EncodedCorpus> {
  const stored = openEncoded(opened);
  const wanted = options.limit ?? limitOf(opened);
  if (stored && (options.limit === undefined || stored.count >= Math.min(wanted, stored.total)))
    return stored;
  stored?.close();
  try {
    await encode(opened, wanted, options);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    // A folder that an edit took away is no fault of the disk.
    opened.run.checkUnchanged();
    throw new UserError(`cannot store the encoded sentences in ${opened.run.directory}: ${reasonOf(error)}`);
  }
  const made = openEncoded(opened);
  if (!made) throw new RunChanged(opened.run.directory);
  return made;
}

async function encode(opened: OpenedRun, wanted: number, options: EncodingOptions): Promise<void> {
  const { run, step, symbols, length } = opened;
  const { signal, onProgress } = options;
  const corpus = await runCorpus(opened, { signal });
  try {
    const total = Object.values(corpus.counts).reduce((sum, count) => sum + count, 0);
    const writer = new EncodedWriter(run, corpus.labels);
    try {
      for await (const batch of readSentences(opened, corpus, wanted, signal)) {
        signal?.throwIfAborted();
        writer.write(batch);
        onProgress?.(writer.count, Math.min(wanted, total));
      }
      writer.finish({ created: run.identity, step, symbols, length, total });
    } catch (error) {
      writer.abandon();
      throw error;
    }
  } finally {
    corpus.close();
  }
}
