import { Tensor } from '@hidden-schema/torch';

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
