import type { BatchPosition } from '../corpus/batches.ts';
import { LengthOrder, type LengthOrderOptions } from './length-order.ts';
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

/** The sentences from `first` up to `end` of a batch, as wide as the whole: a process's part of it. */
export function partOfBatch(batch: TextBatch, first: number, end: number): TextBatch {
  const side = ({ ids, lengths, width }: PaddedIds): PaddedIds => ({
    ids: ids.slice(first * width, end * width),
    lengths: lengths.slice(first, end),
    width,
  });
  const { epoch, index, rows, encoder, decoder, labels } = batch;
  return {
    epoch,
    index,
    rows: rows.slice(first, end),
    encoder: side(encoder),
    decoder: side(decoder),
    labels: labels.slice(first, end),
  };
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

export interface LengthBatchOptions extends Frames, LengthOrderOptions {}

/** Shuffled batches of sentences of like length, endless over epochs. */
export class LengthBatches {
  readonly #store: TokenStore;
  readonly #options: LengthBatchOptions;
  readonly #order: LengthOrder;

  constructor(store: TokenStore, rows: Int32Array, options: LengthBatchOptions) {
    this.#store = store;
    this.#options = options;
    const { encoder, decoder } = store.lengths;
    // By the decoder's length, which costs most, then the encoder's.
    this.#order = new LengthOrder(rows, (row) => decoder[row]! * 0x10000 + encoder[row]!, options);
  }

  get batchSize(): number {
    return this.#order.batchSize;
  }
  get batchesPerEpoch(): number {
    return this.#order.batchesPerEpoch;
  }
  position(): BatchPosition {
    return this.#order.position();
  }
  seek(position: BatchPosition): void {
    this.#order.seek(position);
  }

  next(): TextBatch {
    const { epoch, index, rows } = this.#order.next();
    return { epoch, index, ...readBatch(this.#store, rows, this.#options) };
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
