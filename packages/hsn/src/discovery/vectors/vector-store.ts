import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { cacheLimit, keepWithin, markUsed, reasonOf } from '@hidden-schema/base';
import { scope, Tensor, zeros } from '@hidden-schema/torch';
import { Replicas } from '../../train/replicas.ts';
import {
  encodeRows,
  encoderTokens,
  type OpenedEncoder,
  type StoredMemory,
  storedMemory,
  type TextVectorOptions,
} from './text-vectors.ts';
import {
  OpenFiles,
  type RowRange,
  readVectorFile,
  StoredRows,
  type TextKey,
  type VectorRows,
  vectorFolder,
  writeVectorFile,
} from './vector-file.ts';

// Shapes: N texts, D width of the encoder.

export interface StoredVectorOptions extends TextVectorOptions {
  /** The folder of caches; HSN_CACHE or the user's unless given. */
  cache?: string | undefined;
  /** Texts of each part of a corpus; no stored file has texts of two. All are one part unless given. */
  parts?: readonly number[];
  /** The processes that encode the texts together, each some of the files; all have all vectors afterwards. */
  replicas?: Replicas | undefined;
  /** Hears where vectors came from, and what went wrong with the store. */
  onNote?: ((text: string) => void) | undefined;
}

const format = 2;
/** Texts of a file: what is stopped loses no more than these, and a corpus that grew encodes only its end. */
const textsOfFile = 2048;

/** Texts that are read some at a time. */
export interface TextList {
  readonly count: number;
  slice(first: number, end: number): readonly string[];
}

/**
 * Texts as vectors, encoded once: kept as safetensors files in the cache, each named by its texts, the encoder's weights
 * and tokens, and how much of a text is read. A file that is damaged is made again; the files take no more than
 * HSN_CACHE_LIMIT. [N, D] float32
 */
export async function textVectors(
  texts: readonly string[],
  opened: OpenedEncoder,
  options: StoredVectorOptions,
): Promise<Tensor> {
  const list = { count: texts.length, slice: (first: number, end: number) => texts.slice(first, end) };
  const stored = await storedVectors(list, opened, options);
  try {
    return stored.count > 0
      ? stored.rows(Array.from(texts.keys()))
      : Tensor.fromArray(new Float32Array(0), [0, stored.width]);
  } finally {
    stored.free();
  }
}

/** The same, read from the cache row by row. */
export async function storedVectors(
  texts: TextList,
  opened: OpenedEncoder,
  options: StoredVectorOptions,
): Promise<VectorRows> {
  const { onNote, onProgress, signal, replicas = Replicas.alone } = options;
  const store = new VectorFiles(opened, options);
  const spans = [...stretches(options.parts ?? [texts.count])];
  const found: (RowRange | undefined)[] = spans.map((span) => store.find(span, texts.slice(...span)));
  const stored = found.reduce((sum, stretch) => sum + (stretch ? stretch.end - stretch.first : 0), 0);
  await replicas.syncOrAbort(signal);
  // Only what no process has is encoded, each file by one of them.
  const missing = holders(found, replicas).flatMap((who, at) => (who.length === 0 ? [at] : []));
  const progress = progressOf(texts.count, missing.length > 0 ? onProgress : undefined);
  let done = stored;
  for (const [turn, at] of missing.entries()) {
    const span = spans[at]!;
    if (turn % replicas.size === replicas.rank)
      found[at] = await store.make(span, texts.slice(...span), (some) => progress(done + some));
    done += span[1] - span[0];
    progress(done);
  }
  await replicas.syncOrAbort(signal);
  await exchange(found, spans, { texts, store, replicas, width: opened.encoder.width });
  progress(texts.count);
  const known = stored + store.known;
  if (known > 0) onNote?.(`vectors of ${known} of ${texts.count} texts were in the cache`);
  return new StoredRows(found as RowRange[], opened.encoder.width, store.files);
}

/** Never tells the same twice. */
function progressOf(total: number, tell: StoredVectorOptions['onProgress']): (done: number) => void {
  let reported = 0;
  return (done) => {
    if (done > reported) tell?.(done, total);
    reported = Math.max(reported, done);
  };
}

/** For each file the processes that have it. */
function holders(found: readonly (RowRange | undefined)[], replicas: Replicas): number[][] {
  if (replicas.size === 1) return found.map((stretch) => (stretch ? [0] : []));
  const count = found.length;
  const flags = new Float64Array(count * replicas.size);
  for (const [at, stretch] of found.entries()) flags[replicas.rank * count + at] = stretch ? 1 : 0;
  const all = replicas.counts(flags);
  const ranks = Array.from({ length: replicas.size }, (_, rank) => rank);
  return found.map((_, at) => ranks.filter((rank) => all[rank * count + at]! > 0));
}

interface Exchange {
  texts: TextList;
  store: VectorFiles;
  replicas: Replicas;
  width: number;
}

/** Hands each file that some process lacks to all: sending a vector costs a thousandth of encoding it. */
async function exchange(
  found: (RowRange | undefined)[],
  spans: readonly [number, number][],
  { texts, store, replicas, width }: Exchange,
): Promise<void> {
  if (replicas.size === 1) return;
  // Processes of one machine share a cache: what another one made lies there by now.
  for (const [at, span] of spans.entries()) found[at] ??= store.find(span, texts.slice(...span));
  for (const [at, who] of holders(found, replicas).entries()) {
    if (who.length === replicas.size) continue;
    const span = spans[at]!;
    const mine = found[at];
    const vectors = scope(() => {
      const rows = Array.from({ length: span[1] - span[0] }, (_, n) => span[0] + n);
      const all = mine ? new StoredRows([mine], width, store.files).rows(rows) : zeros([rows.length, width]);
      replicas.broadcast([all], who[0]!);
      return all;
    });
    if (mine) vectors.free();
    else found[at] = store.keep(span, texts.slice(...span), vectors);
    await replicas.syncOrAbort();
  }
}

/** First and end of the texts of each file. */
function* stretches(parts: readonly number[]): Generator<[first: number, end: number]> {
  let start = 0;
  for (const count of parts) {
    for (let first = start; first < start + count; first += textsOfFile)
      yield [first, Math.min(first + textsOfFile, start + count)];
    start += count;
  }
}

class VectorFiles {
  readonly files = new OpenFiles();
  readonly #opened: OpenedEncoder;
  readonly #options: StoredVectorOptions;
  readonly #folder: string;
  readonly #encoder: string;
  readonly #limit = cacheLimit();
  readonly #memory: StoredMemory | undefined;
  /** Texts of files that were made whose vectors the cache had, in other files. */
  known = 0;

  constructor(opened: OpenedEncoder, options: StoredVectorOptions) {
    this.#opened = opened;
    this.#options = options;
    this.#folder = vectorFolder(options.cache);
    this.#encoder = fingerprintOf(opened);
    this.#memory = storedMemory(opened.encoder, options.cache);
  }

  #file(texts: readonly string[]): string {
    const key = { format, encoder: this.#encoder, longest: this.#options.longest };
    const hash = createHash('sha256').update(JSON.stringify(key));
    // With lengths between, so that no two lists of texts run together to the same bytes.
    for (const text of texts) hash.update(`\n${text.length} `).update(text);
    return path.join(this.#folder, `${hash.digest('hex')}.safetensors`);
  }

  /** A file that is there and whole. */
  find([first, end]: [number, number], texts: readonly string[]): RowRange | undefined {
    const file = this.#file(texts);
    if (!fs.existsSync(file)) return undefined;
    try {
      readVectorFile(file, this.#opened.encoder.width, texts.length);
      markUsed(file);
      return { first, end, file, place: dataPlace(this.files.descriptor(file)) };
    } catch (error) {
      this.#options.onNote?.(`${file} is damaged (${reasonOf(error)}): its texts are encoded again`);
      return undefined;
    }
  }

  async make(
    span: [number, number],
    texts: readonly string[],
    onProgress: (done: number) => void,
  ): Promise<RowRange> {
    const { signal, longest } = this.#options;
    const tokens = await encoderTokens(texts, this.#opened, { longest, signal });
    const { encoder } = this.#opened;
    const keys = this.#memory && tokens.map((ids) => this.#memory!.keyOf(ids));
    const known = tokens.map((_, row) => keys && this.#memory!.find(keys[row]!)?.slice());
    const fresh = [...tokens.keys()].filter((row) => known[row] === undefined);
    const before = tokens.length - fresh.length;
    this.known += before;
    const made = await encodeRows(
      fresh.map((row) => tokens[row]!),
      encoder,
      { signal, onProgress: (done) => onProgress(before + done) },
    );
    const all = new Float32Array(tokens.length * encoder.width);
    for (const [row, vector] of known.entries()) if (vector) all.set(vector, row * encoder.width);
    for (const [at, row] of fresh.entries())
      all.set(made.subarray(at * encoder.width, (at + 1) * encoder.width), row * encoder.width);
    return this.keep(span, texts, Tensor.fromArray(all, [tokens.length, encoder.width]), keys);
  }

  /** Writes a file for the next time; vectors that cannot be kept stay in memory. */
  keep(
    [first, end]: [number, number],
    texts: readonly string[],
    vectors: Tensor,
    keys?: readonly TextKey[],
  ): RowRange {
    try {
      fs.mkdirSync(this.#folder, { recursive: true });
      const file = this.#file(texts);
      // Keys let a text be found by itself, whatever stands around it in another corpus.
      const keyed = keys && this.#memory ? { encoder: this.#memory.encoder, keys } : undefined;
      writeVectorFile(file, vectors, keyed);
      keepWithin(this.#limit, 'vectors', file);
      const place = dataPlace(this.files.descriptor(file));
      vectors.free();
      return { first, end, file, place };
    } catch (error) {
      this.#options.onNote?.(`vectors were not kept for the next time: ${reasonOf(error)}`);
      return { first, end, vectors };
    }
  }
}

/** Where a safetensors file's numbers begin: after the length of its header, eight bytes, and the header. */
function dataPlace(descriptor: number): number {
  const length = Buffer.alloc(8);
  fs.readSync(descriptor, length, 0, 8, 0);
  return 8 + Number(length.readBigUInt64LE());
}

/** Of all weights and the vocabulary: a folder whose model was replaced has other vectors under the same name. */
function fingerprintOf({ encoder, tokenizer }: OpenedEncoder): string {
  const hash = createHash('sha256').update(tokenizer.hash);
  if (encoder.precision && encoder.precision !== 'float32') hash.update(encoder.precision);
  for (const [weight, tensor] of encoder.namedTensors())
    hash.update(weight).update(tensor.toArray() as NodeJS.TypedArray);
  return hash.digest('hex');
}
