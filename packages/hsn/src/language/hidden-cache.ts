import { scope, Tensor } from '@hidden-schema/torch';
import type { PaddedIds } from '../text/index.ts';

type Encode = (ids: PaddedIds) => Tensor;

/**
 * Hidden states of sentences by a frozen encoder, kept in memory up to a budget: each sentence is encoded once, and by
 * itself, since those beside it change the last bits. A training that was stopped then goes on with the same states,
 * in whichever batch it meets a sentence first.
 */
export class HiddenCache {
  readonly #states = new Map<number, Float32Array>();
  readonly #width: number;
  #free: number;

  /** `width` is D; `megabytes` bounds what is kept. */
  constructor(width: number, megabytes: number) {
    this.#width = width;
    this.#free = megabytes * 1e6;
  }

  /** States of a batch [B, T, D], zero in its padding: from memory, or by `encode` [1, T', D] and kept. */
  states(rows: Int32Array, ids: PaddedIds, encode: Encode): Tensor {
    const fresh = new Map<number, Float32Array>();
    for (const [b, row] of rows.entries()) {
      if (this.#states.has(row) || fresh.has(row)) continue;
      fresh.set(row, scope(() => encode(unpadded(ids, b)).toArray()) as Float32Array);
    }
    const found = Array.from(rows, (row) => this.#states.get(row) ?? fresh.get(row)!);
    for (const [row, states] of fresh) this.#keep(row, states);
    return this.#assembled(found, ids);
  }

  #assembled(states: readonly Float32Array[], { lengths, width }: PaddedIds): Tensor {
    const D = this.#width;
    const data = new Float32Array(lengths.length * width * D);
    for (const [b, sentence] of states.entries()) data.set(sentence, b * width * D);
    return Tensor.fromArray(data, [lengths.length, width, D]);
  }

  #keep(row: number, states: Float32Array): void {
    if (states.byteLength > this.#free) return;
    this.#states.set(row, states);
    this.#free -= states.byteLength;
  }
}

/** The sentence at a place of a batch, without padding. */
function unpadded({ ids, lengths, width }: PaddedIds, place: number): PaddedIds {
  const own = lengths[place]!;
  const start = place * width;
  return { ids: ids.slice(start, start + own), lengths: Int32Array.of(own), width: own };
}
