import fs from 'node:fs';
import {
  openRegular,
  readJsonFile,
  readRegular,
  reasonOf,
  UserError,
  writeJsonAtomic,
} from '@hidden-schema/base';
import type { OpenedRun, SplitName } from '@hidden-schema/hsn';
import { nearestWalks } from '../evaluation/nearest-walks.ts';
import {
  bytesAt,
  ENCODED_FORMAT,
  type EncodedManifest,
  layoutOf,
  type StoredSentence,
} from './encoded-layout.ts';
import { EncodedWriter } from './encoded-writer.ts';
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
  /** [N, L] */
  readonly walks: Uint16Array;
  /** Number of each sentence's label; −1 for none. */
  readonly labelOf: Int16Array;
  readonly #offsets: Float64Array;
  readonly #file: number;

  constructor(file: string, manifest: EncodedManifest) {
    this.manifest = manifest;
    const { count, length } = manifest;
    const places = layoutOf(count, length);
    const table = readRegular(`${file}.bin`, Number.POSITIVE_INFINITY);
    if (table.length !== places.bytes) throw new UserError(`${file}.bin is not whole; remove it`);
    this.#offsets = new Float64Array(bytesAt(table, places.offsets, 8 * (count + 1)));
    this.walks = new Uint16Array(bytesAt(table, places.walks, 2 * count * length));
    this.labelOf = new Int16Array(bytesAt(table, places.labels, 2 * count));
    this.#file = openRegular(`${file}.jsonl`);
  }

  get count(): number {
    return this.manifest.count;
  }
  /** Sentences in the whole corpus. */
  get total(): number {
    return this.manifest.total;
  }
  get symbols(): number {
    return this.manifest.symbols;
  }
  get length(): number {
    return this.manifest.length;
  }
  get step(): number {
    return this.manifest.step;
  }
  get labels(): readonly string[] {
    return this.manifest.labels;
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
    fs.readSync(this.#file, bytes, 0, bytes.length, start);
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
    fs.closeSync(this.#file);
  }
}

/** How many sentences are read into walks, and who is told. */
export interface EncodingOptions {
  /** Sentences at most, those of the test split first; 5000 unless given, or 100 000 where vectors are stored. */
  limit?: number;
  signal?: AbortSignal;
  onProgress?: (done: number, total: number) => void;
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
  const { run, step, symbols, length } = opened;
  const file = run.path('analysis', 'encoded');
  try {
    const manifest = readJsonFile<EncodedManifest>(`${file}.json`);
    const same =
      manifest.format === ENCODED_FORMAT &&
      manifest.created === run.identity &&
      manifest.step === step &&
      manifest.symbols === symbols &&
      manifest.length === length;
    return same ? new EncodedCorpus(file, manifest) : undefined;
  } catch {
    return undefined;
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
    throw new UserError(`cannot store the encoded sentences in ${opened.run.directory}: ${reasonOf(error)}`);
  }
  return openEncoded(opened)!;
}

async function encode(opened: OpenedRun, wanted: number, options: EncodingOptions): Promise<void> {
  const { run, step, symbols, length } = opened;
  const { signal, onProgress } = options;
  const corpus = await runCorpus(opened, signal ? { signal } : {});
  try {
    fs.mkdirSync(run.path('analysis'), { recursive: true });
    const total = Object.values(corpus.counts).reduce((sum, count) => sum + count, 0);
    const writer = new EncodedWriter(run.path('analysis', 'encoded'), corpus.labels);
    try {
      for await (const batch of readSentences(opened, corpus, wanted, signal)) {
        signal?.throwIfAborted();
        writer.write(batch);
        onProgress?.(writer.count, Math.min(wanted, total));
      }
      const facts = { created: run.identity, step, symbols, length, total };
      writeJsonAtomic(run.path('analysis', 'encoded.json'), { ...writer.finish(facts) });
    } catch (error) {
      writer.abandon();
      throw error;
    }
  } finally {
    corpus.close();
  }
}
