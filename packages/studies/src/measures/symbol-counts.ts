import type { DocumentTerms } from './document-terms.ts';
import { type SymbolUses, usesBySymbol } from './symbol-uses.ts';

/** The words of one symbol: `counts[term]`, by the weights of its uses, for each of `terms`. */
export interface SymbolCounts {
  readonly symbol: number;
  readonly terms: readonly number[];
  /** By term; holds only until the next symbol. [V] */
  readonly counts: Float64Array;
}

/** Weighted counts of words for one symbol after the other, in memory of one. */
export function* countsBySymbol(matrix: DocumentTerms, uses: SymbolUses, K: number): Generator<SymbolCounts> {
  const bySymbol = usesBySymbol(uses, K);
  const counts = new Float64Array(matrix.words.length);
  for (let symbol = 0; symbol < K; symbol++) {
    const terms: number[] = [];
    for (let use = bySymbol.starts[symbol]!; use < bySymbol.starts[symbol + 1]!; use++) {
      const text = bySymbol.texts[use]!;
      for (let at = matrix.starts[text]!; at < matrix.starts[text + 1]!; at++) {
        const term = matrix.terms[at]!;
        const more = bySymbol.weights[use]! * matrix.counts[at]!;
        if (counts[term] === 0 && more > 0) terms.push(term);
        counts[term]! += more;
      }
    }
    yield { symbol, terms, counts };
    for (const term of terms) counts[term] = 0;
  }
}

/** Weighted counts of each word over all symbols, and of all words by symbol. */
export function weightedCounts(
  matrix: DocumentTerms,
  { symbols, length, weights }: SymbolUses,
  K: number,
): { perWord: Float64Array; perSymbol: Float64Array } {
  const perWord = new Float64Array(matrix.words.length);
  const perSymbol = new Float64Array(K);
  for (let text = 0; text + 1 < matrix.starts.length; text++) {
    const [from, to] = [matrix.starts[text]!, matrix.starts[text + 1]!];
    let size = 0;
    for (let at = from; at < to; at++) size += matrix.counts[at]!;
    let weight = 0;
    for (let at = text * length; at < (text + 1) * length; at++) {
      if (symbols[at]! < 0) continue;
      const share = weights?.[at] ?? 1;
      weight += share;
      perSymbol[symbols[at]!]! += share * size;
    }
    for (let at = from; at < to; at++) perWord[matrix.terms[at]!]! += weight * matrix.counts[at]!;
  }
  return { perWord, perSymbol };
}
