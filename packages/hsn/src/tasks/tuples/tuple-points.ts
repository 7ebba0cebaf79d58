import type { PaddedIds } from '@hidden-schema/text';
import { scope, Tensor } from '@hidden-schema/torch';
import type { TupleTokens } from './tokens.ts';
import { prefixVectors, type TwoPartPursuit } from './two-part-pursuit.ts';

// Shapes: B tuples, D width of the encoder.

/** Texts encoded at a time. */
const atOnce = 64;

/** Vectors of numbered texts, each encoded once. */
class KnownVectors {
  readonly #encode: (rows: Int32Array) => Tensor;
  readonly #known = new Map<number, Float32Array>();

  /** `encode` gives the vectors of rows that stand for the numbers. */
  constructor(encode: (rows: Int32Array) => Tensor) {
    this.#encode = encode;
  }

  /** [B, D] */
  of(rows: Int32Array, numbers: readonly number[]): Tensor {
    const fresh = new Map<number, number>();
    for (const row of rows) if (!this.#known.has(numbers[row]!)) fresh.set(numbers[row]!, row);
    const [keys, standing] = [[...fresh.keys()], Int32Array.from(fresh.values())];
    for (let first = 0; first < keys.length; first += atOnce) {
      const some = standing.subarray(first, first + atOnce);
      const flat = scope(() => this.#encode(Int32Array.from(some)).toArray()) as Float32Array;
      const width = flat.length / some.length;
      for (let i = 0; i < some.length; i++)
        this.#known.set(keys[first + i]!, flat.slice(i * width, (i + 1) * width));
    }
    const width = this.#known.get(numbers[rows[0]!]!)!.length;
    const all = new Float32Array(rows.length * width);
    for (const [i, row] of rows.entries()) all.set(this.#known.get(numbers[row]!)!, i * width);
    return Tensor.fromArray(all, [rows.length, width]);
  }
}

/** Tuples as vectors and points of a pursuing encoder; events, relations and objects are encoded once each. */
export class TuplePoints {
  readonly #encoder: TwoPartPursuit;
  readonly #tokens: TupleTokens;
  readonly #events: KnownVectors;
  readonly #relations: KnownVectors;
  readonly #objects: KnownVectors;

  constructor(encoder: TwoPartPursuit, tokens: TupleTokens) {
    this.#encoder = encoder;
    this.#tokens = tokens;
    const of = (ids: (rows: Int32Array) => PaddedIds) =>
      new KnownVectors((rows) => encoder.vectors(ids(rows)));
    this.#events = of((rows) => tokens.events(rows));
    this.#relations = of((rows) => tokens.relationsAlone(rows));
    this.#objects = of((rows) => tokens.objects(rows));
  }

  /** Unit vectors of (s, r), and of o. [B, D] */
  prefixVectors(rows: Int32Array): Tensor {
    const { head, relation } = this.#tokens.table;
    return scope(() => prefixVectors(this.#events.of(rows, head), this.#relations.of(rows, relation)));
  }
  objectVectors(rows: Int32Array): Tensor {
    return this.#objects.of(rows, this.#tokens.table.object);
  }

  /** The points that first halves pursue, and second ones. [B, D] */
  first(rows: Int32Array): Tensor {
    return scope(() => this.#encoder.events.points(this.prefixVectors(rows)));
  }
  second(rows: Int32Array): Tensor {
    return scope(() => this.#encoder.objects.points(this.objectVectors(rows)));
  }
}
