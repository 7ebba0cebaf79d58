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
  const cosinesOf = placeCosines(vectors, D, firstSymbols({ symbols, length }));
  const sums = new Float64Array(length);
  const counts = new Uint32Array(length);
  let [named, repeats, unplaced] = [0, 0, 0];
  for (let n = 0; n < N; n++) {
    const walk = symbols.subarray(n * length, (n + 1) * length);
    const cosines = cosinesOf(n);
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

/**
 * The cosine of a text with each symbol's place, NaN where a symbol has none, from sums of vectors by first symbol: a text
 * is left out of one without adding up again. [K]
 */
function placeCosines(vectors: Float32Array | Float64Array, D: number, firsts: Int32Array) {
  const K = firsts.reduce((most, symbol) => Math.max(most, symbol + 1), 0);
  const rowOf = (n: number) => vectors.subarray(n * D, (n + 1) * D);
  const sums = Array.from({ length: K }, () => new Float64Array(D));
  const counts = new Uint32Array(K);
  for (const [n, first] of firsts.entries()) {
    if (first < 0) continue;
    counts[first]!++;
    for (const [d, value] of rowOf(n).entries()) sums[first]![d]! += value;
  }
  const squares = sums.map((sum) => dot(sum, sum));
  return (n: number): Float64Array => {
    const row = rowOf(n);
    const size = dot(row, row);
    return Float64Array.from(sums, (sum, k) => {
      const own = firsts[n] === k;
      if (counts[k]! - Number(own) === 0) return Number.NaN;
      const along = dot(row, sum);
      // (S − v)·v and |S − v|², where the text v is one of the sum S.
      const left = own ? along - size : along;
      const square = own ? squares[k]! - 2 * along + size : squares[k]!;
      return left / Math.sqrt(size * square);
    });
  };
}
