import { dot } from './dot.ts';
import { firstSymbols, type SymbolUses } from './symbol-uses.ts';

// Shapes: N texts, L steps, K symbols, D width of the vectors.

/** Fit at one step of walks. */
export interface StepFit {
  /** Mean share of the other symbols that fit the text worse than the one named; chance is 0.5; null without texts. */
  readonly fit: number | null;
  /** Texts whose walk names a symbol here that it has not named before. */
  readonly texts: number;
}

/** How well the symbols that walks name fit their texts, by vectors of an encoder that took no part in the model. */
export interface WalkFit {
  /** [L] */
  readonly steps: readonly StepFit[];
  /** The mean over all steps but the first, each naming counted once; null where there is none. */
  readonly later: number | null;
  /** Different symbols of a walk, in the mean over all texts. */
  readonly symbolsPerText: number;
  /** Steps that stay on a symbol or come back to one, which are not measured. */
  readonly repeats: number;
  /** Steps whose symbol has no place, since no other text begins with it; they are not measured either. */
  readonly unplaced: number;
}

/**
 * Fit of each step. A symbol's place is the mean of the vectors of the texts whose walk begins with it, the text that is
 * measured left out. The symbol that is named is compared with every other symbol that has a place, by the cosine of
 * place and text; an equal cosine counts half. `vectors` are row-major [N, D].
 */
export function walkFit(vectors: Float32Array | Float64Array, { symbols, length }: SymbolUses): WalkFit {
  const N = symbols.length / length;
  const D = N === 0 ? 0 : vectors.length / N;
  if (!Number.isInteger(D)) throw new RangeError(`${N} vectors are expected, got ${vectors.length} numbers`);
  const places = new SymbolPlaces(vectors, D, firstSymbols({ symbols, length }));
  const sums = new Float64Array(length);
  const counts = new Uint32Array(length);
  let [named, repeats, unplaced] = [0, 0, 0];
  for (let n = 0; n < N; n++) {
    const walk = symbols.subarray(n * length, (n + 1) * length);
    const cosines = places.cosines(n);
    for (const [step, symbol] of walk.entries()) {
      if (symbol < 0) continue;
      if (walk.indexOf(symbol) < step) {
        repeats++;
        continue;
      }
      named++;
      const share = worseShare(cosines, symbol);
      if (share === undefined) unplaced++;
      else {
        sums[step]! += share;
        counts[step]!++;
      }
    }
  }
  const mean = (from: number, to: number) => {
    const count = counts.subarray(from, to).reduce((a, b) => a + b, 0);
    return count === 0 ? null : sums.subarray(from, to).reduce((a, b) => a + b, 0) / count;
  };
  return {
    steps: Array.from(counts, (texts, step) => ({ fit: mean(step, step + 1), texts })),
    later: mean(1, length),
    symbolsPerText: N === 0 ? 0 : named / N,
    repeats,
    unplaced,
  };
}

/** Share of the other places that are farther than a symbol's; nothing where it or all others have none (NaN). */
function worseShare(cosines: Float64Array, symbol: number): number | undefined {
  const own = cosines[symbol] ?? Number.NaN;
  if (Number.isNaN(own)) return undefined;
  let [worse, others] = [0, 0];
  for (const [other, cosine] of cosines.entries()) {
    if (other === symbol || Number.isNaN(cosine)) continue;
    others++;
    if (cosine < own) worse++;
    else if (cosine === own) worse += 0.5;
  }
  return others === 0 ? undefined : worse / others;
}

/** Sums of the vectors of texts by first symbol, from which one text is left out without adding up again. */
class SymbolPlaces {
  readonly #vectors: Float32Array | Float64Array;
  readonly #width: number;
  readonly #firsts: Int32Array;
  readonly #sums: readonly Float64Array[];
  readonly #squares: readonly number[];
  readonly #counts: Uint32Array;

  constructor(vectors: Float32Array | Float64Array, D: number, firsts: Int32Array) {
    const K = firsts.reduce((most, symbol) => Math.max(most, symbol + 1), 0);
    this.#firsts = firsts;
    this.#vectors = vectors;
    this.#width = D;
    this.#sums = Array.from({ length: K }, () => new Float64Array(D));
    this.#counts = new Uint32Array(K);
    for (const [n, first] of firsts.entries()) {
      if (first < 0) continue;
      this.#counts[first]!++;
      const sum = this.#sums[first]!;
      for (const [d, value] of this.#row(n).entries()) sum[d]! += value;
    }
    this.#squares = this.#sums.map((sum) => dot(sum, sum));
  }

  /** Cosine of a text with each symbol's place, NaN where a symbol has none. [K] */
  cosines(n: number): Float64Array {
    const row = this.#row(n);
    const size = dot(row, row);
    return Float64Array.from(this.#sums, (sum, k) => {
      const own = this.#firsts[n] === k;
      if (this.#counts[k]! - Number(own) === 0) return Number.NaN;
      const along = dot(row, sum);
      // (S − v)·v and |S − v|², where the text v is one of the sum S.
      const left = own ? along - size : along;
      const square = own ? this.#squares[k]! - 2 * along + size : this.#squares[k]!;
      return left / Math.sqrt(size * square);
    });
  }

  #row(n: number): Float32Array | Float64Array {
    return this.#vectors.subarray(n * this.#width, (n + 1) * this.#width);
  }
}
