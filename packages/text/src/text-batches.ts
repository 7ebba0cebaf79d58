import { Random, UserError } from '@hidden-schema/base';
import { Tensor } from '@hidden-schema/torch';
import type { TokenSide, TokenStore } from './token-store.ts';

/** Sentences of both sides. */
export interface TextBatch {
  /** Rows of the store. */
  rows: Int32Array;
  encoder: PaddedIds;
  decoder: PaddedIds;
  /** Label numbers; -1 for none. */
  labels: Int32Array;
}

export interface Frames {
  encoder: Frame;
  decoder: Frame;
}

/** The sentences of `rows`, both sides framed and padded to the batch's own longest. */
export function readBatch(store: TokenStore, rows: Int32Array, frames: Frames): TextBatch {
  const stored = Array.from(rows, (row) => store.row(row));
  const side = (name: TokenSide) =>
    padded(
      stored.map((row) => store.ids(name, row)),
      frames[name],
    );
  const labels = Int32Array.from(stored, ({ label }) => label);
  return { rows, encoder: side('encoder'), decoder: side('decoder'), labels };
}

/** The sentences from `first` up to `end` of a batch, as wide as the whole: a process's part of it. */
export function partOfBatch(batch: TextBatch, first: number, end: number): TextBatch {
  return {
    rows: batch.rows.slice(first, end),
    encoder: partOfPadded(batch.encoder, first, end),
    decoder: partOfPadded(batch.decoder, first, end),
    labels: batch.labels.slice(first, end),
  };
}

/** Shuffled batches of a store's rows whose sentences are of like length. */
export function lengthOrder(store: TokenStore, rows: Int32Array, options: OrderOptions): BatchOrder {
  const { encoder, decoder } = store.lengths;
  // By the decoder's length, which costs most, then the encoder's.
  return new BatchOrder(rows, { ...options, lengthOf: (row) => decoder[row]! * 0x10000 + encoder[row]! });
}

/** Batches of one pass in order of length, without shuffling: for evaluation and encoding. */
export function* batchesByLength(
  store: TokenStore,
  rows: Int32Array,
  batchSize: number,
  frames: Frames,
): Generator<TextBatch> {
  const { encoder, decoder } = store.lengths;
  const order = rows.toSorted((a, b) => encoder[a]! - encoder[b]! || decoder[a]! - decoder[b]! || a - b);
  for (let start = 0; start < order.length; start += batchSize)
    yield readBatch(store, order.slice(start, start + batchSize), frames);
}

/** Token numbers of several sentences, padded to the longest of them. */
export interface PaddedIds {
  /** Row-major [sentences, width]. */
  ids: Int32Array;
  lengths: Int32Array;
  width: number;
}

/** Padded token numbers as a tensor. [B, T] int32 */
export function idsTensor({ ids, lengths, width }: PaddedIds): Tensor {
  return Tensor.fromArray(ids, [lengths.length, width]);
}

/** The sentences from `first` up to `end`, as wide as the whole. */
export function partOfPadded({ ids, lengths, width }: PaddedIds, first: number, end: number): PaddedIds {
  return { ids: ids.slice(first * width, end * width), lengths: lengths.slice(first, end), width };
}

/** Each sentence without its padding. */
export function rowsOfPadded({ ids, lengths, width }: PaddedIds): Int32Array[] {
  return Array.from(lengths, (length, i) => ids.slice(i * width, i * width + length));
}

/** Tokens put around a sentence's own, and after it to fill the batch's width. */
export interface Frame {
  pad: number;
  begin?: number;
  end?: number;
  /** A sentence with more tokens than this was cut, and gets no end. */
  longest?: number;
}

/** Sentences of token numbers, framed and padded on the right. */
export function padded(sentences: readonly Int32Array[], { pad, begin, end, longest }: Frame): PaddedIds {
  const before = begin === undefined ? [] : [begin];
  const after = (ids: Int32Array) =>
    end === undefined || ids.length > (longest ?? Number.POSITIVE_INFINITY) ? [] : [end];
  const lengths = Int32Array.from(sentences, (ids) => before.length + ids.length + after(ids).length);
  const width = lengths.reduce((most, length) => Math.max(most, length), 0);
  const ids = new Int32Array(sentences.length * width).fill(pad);
  for (const [i, sentence] of sentences.entries()) {
    ids.set(before, i * width);
    ids.set(sentence, i * width + before.length);
    ids.set(after(sentence), i * width + before.length + sentence.length);
  }
  return { ids, lengths, width };
}

/** Where a run stands: `batch` is the next to be given in `epoch`. */
export interface BatchPosition {
  epoch: number;
  batch: number;
}

/** The rows of one batch. */
export interface DrawnRows {
  epoch: number;
  index: number;
  rows: Int32Array;
}

export interface OrderOptions {
  batchSize: number;
  seed: number;
  /** What rows are sorted by, a whole number below 2^32; without it rows are shuffled alone. */
  lengthOf?: (row: number) => number;
  /** Batches whose sentences are sorted together: more of them pad less, fewer mix lengths more. */
  pool?: number;
}

const POOL = 50;
/** Two 16-bit lengths and a place fill the 53 bits of a sort key. */
const MOST_POOLED = 2 ** 21;

/**
 * Shuffled batches of rows, endless over epochs; an epoch's order depends on (seed, epoch) alone. Where rows have a
 * length they are shuffled, sorted by it within pools, cut into batches, and the batches shuffled.
 */
export class BatchOrder {
  /** Never more than there are rows, so that a corpus smaller than one batch is still one batch. */
  readonly batchSize: number;
  readonly batchesPerEpoch: number;
  readonly #rows: Int32Array;
  readonly #options: OrderOptions;
  #position: BatchPosition = { epoch: 0, batch: 0 };
  #epoch: { order: Int32Array; starts: Int32Array } | undefined;

  constructor(rows: Int32Array, options: OrderOptions) {
    const { batchSize, pool = POOL } = options;
    for (const [name, value] of Object.entries({ sentences: rows.length, 'batch size': batchSize, pool })) {
      if (!Number.isInteger(value) || value < 1)
        throw new UserError(`batches: ${name} must be a whole number of at least 1, got ${value}`);
    }
    this.#rows = rows;
    this.#options = options;
    this.batchSize = Math.min(batchSize, rows.length);
    // The last batch of an epoch is left out where it is not full.
    this.batchesPerEpoch = Math.floor(rows.length / this.batchSize);
  }

  position(): BatchPosition {
    return { ...this.#position };
  }

  seek({ epoch, batch }: BatchPosition): void {
    const whole = Number.isSafeInteger(epoch) && epoch >= 0 && Number.isInteger(batch) && batch >= 0;
    if (!whole || batch >= this.batchesPerEpoch)
      throw new UserError(
        `batches: position epoch ${epoch}, batch ${batch} is outside an epoch of ${this.batchesPerEpoch} batches`,
      );
    if (epoch !== this.#position.epoch) this.#epoch = undefined;
    this.#position = { epoch, batch };
  }

  next(): DrawnRows {
    const { epoch, batch } = this.#position;
    this.#epoch ??= this.#drawn(epoch);
    const start = this.#epoch.starts[batch]!;
    const rows = this.#epoch.order.slice(start, start + this.batchSize);
    if (batch + 1 < this.batchesPerEpoch) this.#position = { epoch, batch: batch + 1 };
    else this.seek({ epoch: epoch + 1, batch: 0 });
    return { epoch, index: batch, rows };
  }

  /** The order of an epoch's rows, and where its batches begin. */
  #drawn(epoch: number): { order: Int32Array; starts: Int32Array } {
    const random = new Random(this.#options.seed, epoch + 1);
    const order = random.shuffle(Int32Array.from(this.#rows));
    // What the shuffle put last is left over, so that the longest are not left out in every epoch.
    const kept = order.subarray(0, this.batchesPerEpoch * this.batchSize);
    const starts = Int32Array.from({ length: this.batchesPerEpoch }, (_, i) => i * this.batchSize);
    const { lengthOf } = this.#options;
    if (!lengthOf) return { order: kept, starts };
    const pool = Math.min((this.#options.pool ?? POOL) * this.batchSize, MOST_POOLED);
    for (let start = 0; start < kept.length; start += pool)
      sortByLength(kept.subarray(start, start + pool), lengthOf);
    return { order: kept, starts: random.shuffle(starts) };
  }
}

/** Equals stay as they were shuffled. */
function sortByLength(rows: Int32Array, lengthOf: (row: number) => number): void {
  const places = Float64Array.from(rows, (row, place) => lengthOf(row) * MOST_POOLED + place).sort();
  const sorted = Int32Array.from(places, (key) => rows[key % MOST_POOLED]!);
  rows.set(sorted);
}
