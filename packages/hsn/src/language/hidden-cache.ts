import { Tensor } from '@hidden-schema/torch';
import type { PaddedIds } from '../text/index.ts';

/** Hidden states of sentences by a frozen encoder, kept in memory up to a budget: each sentence is encoded once. */
export class HiddenCache {
  readonly #states = new Map<number, Float32Array>();
  readonly #width: number;
  #free: number;

  /** `width` is D; `megabytes` bounds what is kept. */
  constructor(width: number, megabytes: number) {
    this.#width = width;
    this.#free = megabytes * 1e6;
  }

  /** States of a batch [B, T, D]: from memory where all its sentences are there, else by `encode`, and kept. */
  states(rows: Int32Array, ids: PaddedIds, encode: () => Tensor): Tensor {
    const known = Array.from(rows, (row) => this.#states.get(row));
    if (known.every((states) => states !== undefined)) return this.#assembled(known, ids);
    const fresh = encode();
    if (this.#free > 0) this.#keep(rows, ids, fresh.toArray() as Float32Array);
    return fresh;
  }

  #assembled(states: readonly Float32Array[], { lengths, width }: PaddedIds): Tensor {
    const D = this.#width;
    const data = new Float32Array(lengths.length * width * D);
    for (const [b, sentence] of states.entries()) data.set(sentence, b * width * D);
    return Tensor.fromArray(data, [lengths.length, width, D]);
  }

  #keep(rows: Int32Array, { lengths, width }: PaddedIds, data: Float32Array): void {
    const D = this.#width;
    for (const [b, row] of rows.entries()) {
      const bytes = lengths[b]! * D * 4;
      if (this.#states.has(row) || bytes > this.#free) continue;
      this.#states.set(row, data.slice(b * width * D, (b * width + lengths[b]!) * D));
      this.#free -= bytes;
    }
  }
}
