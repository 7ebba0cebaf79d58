import type { PaddedIds } from '@hidden-schema/text';
import { engineInfo, Generator, linear, nn, scope, Tensor, withoutGrad } from '@hidden-schema/torch';

type Encode = (ids: PaddedIds) => Tensor;

/**
 * Hidden states of sentences by a frozen encoder, kept in memory up to a budget: each sentence is encoded once. It is
 * encoded beside others of its own length, since padding changes the last bits, or, where the place in a batch changes
 * them too, by itself: a training that was stopped then goes on with the same states, in whichever batch it meets a
 * sentence first.
 */
export class StateCache {
  readonly #states = new Map<number, Float32Array>();
  readonly #width: number;
  #free: number;

  /** `width` is D; `megabytes` bounds what is kept. */
  constructor(width: number, megabytes: number) {
    this.#width = width;
    this.#free = megabytes * 1e6;
  }

  /** States of a batch [B, T, D], zero in its padding: from memory, or by `encode` [n, T', D] and kept. */
  states(rows: Int32Array, ids: PaddedIds, encode: Encode): Tensor {
    const fresh = new Map<number, Float32Array>();
    for (const places of this.#missing(rows, ids.lengths)) {
      // A batch of one takes another path through the products, with other last bits: it is made two.
      const shown = places.length === 1 ? [...places, ...places] : places;
      const all = scope(() => encode(unpadded(ids, shown)).toArray()) as Float32Array;
      const size = all.length / shown.length;
      for (const [i, b] of places.entries()) fresh.set(rows[b]!, all.slice(i * size, (i + 1) * size));
    }
    const found = Array.from(rows, (row) => this.#states.get(row) ?? fresh.get(row)!);
    for (const [row, states] of fresh) this.#keep(row, states);
    return this.#assembled(found, ids);
  }

  /** Places in the batch of sentences that are not known, each once; those that may be encoded together. */
  #missing(rows: Int32Array, lengths: Int32Array): Iterable<number[]> {
    const seen = new Set<number>();
    const together = rowsAreAlike(this.#width);
    const groups = new Map<number, number[]>();
    for (const [b, row] of rows.entries()) {
      if (this.#states.has(row) || seen.has(row)) continue;
      seen.add(row);
      const key = together ? lengths[b]! : b;
      const group = groups.get(key);
      if (group) group.push(b);
      else groups.set(key, [b]);
    }
    return groups.values();
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

/** Products of unlike numbers of rows: what too few rows for a whole block get shows in some of them. */
const triedRows = [10, 24, 37, 60, 128];

/**
 * Whether a row of a product has the same bits wherever it stands and however many there are: so on some processors,
 * while on others kernels treat every other block of rows in another way. Tried once for a number of threads.
 */
function rowsAreAlike(width: number): boolean {
  const key = `${width} ${engineInfo().threads}`;
  const known = alike.get(key);
  if (known !== undefined) return known;
  const found = withoutGrad(() => {
    const generator = new Generator(1);
    const [row, weight] = [nn.normal([1, width], 1, generator), nn.normal([width, width], 1, generator)];
    const rows = triedRows.flatMap((count) => {
      const product = linear(row.expand(count, width).contiguous(), weight).toArray() as Float32Array;
      return Array.from({ length: count }, (_, i) => product.subarray(i * width, (i + 1) * width));
    });
    return rows.every((one) => one.every((value, i) => value === rows[0]![i]));
  });
  alike.set(key, found);
  return found;
}

const alike = new Map<string, boolean>();

/** Sentences of one length at these places of a batch, without padding. */
function unpadded({ ids, lengths, width }: PaddedIds, places: readonly number[]): PaddedIds {
  const own = lengths[places[0]!]!;
  const data = new Int32Array(places.length * own);
  for (const [i, b] of places.entries()) data.set(ids.subarray(b * width, b * width + own), i * own);
  return { ids: data, lengths: new Int32Array(places.length).fill(own), width: own };
}
