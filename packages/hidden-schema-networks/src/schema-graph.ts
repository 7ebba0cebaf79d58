import { UserError } from '@hidden-schema/base';
import { LIKELY_LINK } from '@hidden-schema/hsn';
import { linksOf } from '@hidden-schema/studies';

/** A link of the graph, of symbols `from` ≤ `to`. */
export interface Link {
  from: number;
  to: number;
  /** q(A = 1). */
  probability: number;
}

/**
 * The graph that was found: how probable a link is between any two symbols. It has no directions.
 *
 * @example
 * for (const { from, to } of schema.graph.links(0.9)) console.log(from, to);
 */
export class SchemaGraph {
  /** K. */
  readonly symbols: number;
  readonly #probabilities: Float64Array;

  /** `probabilities` are those of all pairs, row by row. [K, K] */
  constructor(probabilities: Float64Array, symbols: number) {
    this.symbols = symbols;
    this.#probabilities = probabilities;
  }

  /** q(A = 1) of the link between two symbols. */
  probability(from: number, to: number): number {
    for (const symbol of [from, to]) checkSymbol(symbol, this.symbols);
    return Math.min(1, this.#probabilities[from * this.symbols + to]!);
  }

  /** The links of at least a probability, 0.5 unless given; the surest first. */
  links(least = LIKELY_LINK): Link[] {
    return linksOf(this.#probabilities, this.symbols, least).map(([from, to, probability]) => ({
      from,
      to,
      probability,
    }));
  }
}

/** Refuses what is no symbol of a model. */
export function checkSymbol(symbol: number, symbols: number): void {
  if (!(Number.isInteger(symbol) && symbol >= 0 && symbol < symbols))
    throw new UserError(`the symbols of this model are 0 to ${symbols - 1}, got ${symbol}`);
}
