import { BatchOrder, type OrderOptions } from './batch-order.ts';
import { type Frame, type PaddedIds, padded, partOfPadded } from './padding.ts';
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
