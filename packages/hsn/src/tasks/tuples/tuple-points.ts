import { type PaddedIds, rowsOfPadded } from '@hidden-schema/text/text-batches';
import { scope, Tensor } from '@hidden-schema/torch';
import { cacheFor } from '../../discovery/vectors/text-vectors.ts';
import type { TupleTokens } from './tokens.ts';
import { prefixVectors, type TwoPartPursuit } from './two-part-pursuit.ts';

// Shapes: B tuples, D width of the encoder.

/** Vectors of numbered texts, each looked for once. */
class KnownVectors {
  readonly #encoder: TwoPartPursuit;
  readonly #tokens: (rows: Int32Array) => PaddedIds;
  readonly #known = new Map<number, Float32Array>();

  /** `tokens` gives the texts of rows that stand for the numbers. */
  constructor(encoder: TwoPartPursuit, tokens: (rows: Int32Array) => PaddedIds) {
    this.#encoder = encoder;
    this.#tokens = tokens;
  }

  /** [B, D] */
  of(rows: Int32Array, numbers: readonly number[]): Tensor {
    const fresh = new Map<number, number>();
    for (const row of rows) if (!this.#known.has(numbers[row]!)) fresh.set(numbers[row]!, row);
    if (fresh.size > 0) {
      const texts = rowsOfPadded(this.#tokens(Int32Array.from(fresh.values())));
      const found = cacheFor(this.#encoder.base, this.#encoder).vectors(texts);
      for (const [i, number] of [...fresh.keys()].entries()) this.#known.set(number, found[i]!);
    }
    const { width } = this.#encoder.base;
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
    const of = (ids: (rows: Int32Array) => PaddedIds) => new KnownVectors(encoder, ids);
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
