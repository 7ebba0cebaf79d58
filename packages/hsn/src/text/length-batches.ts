import { Random } from '../corpus/random.ts';
import type { BatchPosition } from '../corpus/batches.ts';
import { UserError } from '../errors.ts';
import type { TokenSide, TokenStore } from './token-store.ts';

/** Token numbers of several sentences, padded to the longest of them. */
export interface PaddedIds {
  /** Row-major [sentences, width]. */
  ids: Int32Array;
  lengths: Int32Array;
  width: number;
}

export interface TextBatch {
  epoch: number;
  index: number;
  /** Rows of the store. */
  rows: Int32Array;
  encoder: PaddedIds;
  decoder: PaddedIds;
  /** Label numbers; -1 for none. */
  labels: Int32Array;
}

/** Tokens put around a sentence's own, and after it to fill the batch's width. */
export interface Frame {
  pad: number;
  begin?: number;
  end?: number;
}

export interface Frames {
  encoder: Frame;
  decoder: Frame;
}

/** The sentences of `rows`, both sides framed and padded to the batch's own longest. */
export function readBatch(
  store: TokenStore,
  rows: Int32Array,
  frames: Frames,
): Omit<TextBatch, 'epoch' | 'index'> {
  const stored = Array.from(rows, (row) => store.row(row));
  const side = (name: TokenSide) =>
    padded(
      stored.map((row) => store.ids(name, row)),
      frames[name],
    );
  const labels = Int32Array.from(stored, ({ label }) => label);
  return { rows, encoder: side('encoder'), decoder: side('decoder'), labels };
}

/** Sentences of token numbers, framed and padded on the right. */
export function padded(sentences: readonly Int32Array[], { pad, begin, end }: Frame): PaddedIds {
  const before = begin === undefined ? [] : [begin];
  const after = end === undefined ? [] : [end];
  const framed = before.length + after.length;
  const lengths = Int32Array.from(sentences, (ids) => ids.length + framed);
  const width = lengths.reduce((most, length) => Math.max(most, length), 0);
  const ids = new Int32Array(sentences.length * width).fill(pad);
  for (const [i, sentence] of sentences.entries()) {
    ids.set(before, i * width);
    ids.set(sentence, i * width + before.length);
    ids.set(after, i * width + before.length + sentence.length);
  }
  return { ids, lengths, width };
}

export interface LengthBatchOptions extends Frames {
  batchSize: number;
  seed: number;
  /** Batches whose sentences are sorted together: more of them pad less, fewer mix lengths more. */
  pool?: number;
  /** Leave out the last batch of an epoch when it is not full; true unless given. */
  dropLast?: boolean;
}

const POOL = 50;
/** Two 16-bit lengths and a place fill the 53 bits of a sort key. */
const MOST_POOLED = 2 ** 21;

/**
 * Shuffled batches of sentences of like length, endless over epochs; an epoch's order depends on (seed, epoch) alone.
 * Sentences are shuffled, sorted by length within pools, cut into batches, and the batches shuffled.
 */
export class LengthBatches {
  /** Never more than there are sentences, so that a corpus smaller than one batch is still one batch. */
  readonly batchSize: number;
  readonly batchesPerEpoch: number;
  readonly #store: TokenStore;
  readonly #rows: Int32Array;
  readonly #options: LengthBatchOptions;
  #position: BatchPosition = { epoch: 0, batch: 0 };
  #epoch: { order: Int32Array; starts: Int32Array } | undefined;

  constructor(store: TokenStore, rows: Int32Array, options: LengthBatchOptions) {
    const { batchSize, pool = POOL } = options;
    for (const [name, value] of Object.entries({ sentences: rows.length, 'batch size': batchSize, pool })) {
      if (!Number.isInteger(value) || value < 1)
        throw new UserError(`batches: ${name} must be a whole number of at least 1, got ${value}`);
    }
    this.#store = store;
    this.#rows = rows;
    this.#options = options;
    this.batchSize = Math.min(batchSize, rows.length);
    const batches = rows.length / this.batchSize;
    this.batchesPerEpoch = (options.dropLast ?? true) ? Math.floor(batches) : Math.ceil(batches);
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

  next(): TextBatch {
    const { epoch, batch } = this.#position;
    this.#epoch ??= this.#drawn(epoch);
    const start = this.#epoch.starts[batch]!;
    const rows = this.#epoch.order.slice(start, start + this.batchSize);
    if (batch + 1 < this.batchesPerEpoch) this.#position = { epoch, batch: batch + 1 };
    else this.seek({ epoch: epoch + 1, batch: 0 });
    return { epoch, index: batch, ...readBatch(this.#store, rows, this.#options) };
  }

  /** The order of an epoch's sentences, and where its batches begin. */
  #drawn(epoch: number): { order: Int32Array; starts: Int32Array } {
    const random = new Random(this.#options.seed, epoch + 1);
    const order = random.shuffle(Int32Array.from(this.#rows));
    // An unfull batch is made of what the shuffle left over, so that the longest are not left out in every epoch.
    const kept = order.subarray(0, Math.min(order.length, this.batchesPerEpoch * this.batchSize));
    const whole = kept.length - (kept.length % this.batchSize);
    const pool = Math.min((this.#options.pool ?? POOL) * this.batchSize, MOST_POOLED);
    for (let start = 0; start < whole; start += pool)
      this.#sortByLength(kept.subarray(start, Math.min(whole, start + pool)));
    const starts = Int32Array.from({ length: this.batchesPerEpoch }, (_, i) => i * this.batchSize);
    return { order: kept, starts: random.shuffle(starts) };
  }

  /** By the decoder's length, which costs most, then the encoder's; equals stay as they were shuffled. */
  #sortByLength(rows: Int32Array): void {
    const { encoder, decoder } = this.#store.lengths;
    const places = Float64Array.from(rows, (row, place) => {
      const [a, b] = [decoder[row]!, encoder[row]!];
      return (a * 0x10000 + b) * MOST_POOLED + place;
    }).sort();
    const sorted = Int32Array.from(places, (key) => rows[key % MOST_POOLED]!);
    rows.set(sorted);
  }
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
  for (let start = 0, index = 0; start < order.length; start += batchSize, index++)
    yield { epoch: 0, index, ...readBatch(store, order.slice(start, start + batchSize), frames) };
}
