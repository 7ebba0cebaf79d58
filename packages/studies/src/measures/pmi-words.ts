import { fewerRepeats, type RankedWord } from './coherent-words.ts';
import type { DocumentTerms } from './document-terms.ts';
import { highest } from './highest.ts';
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

export interface PmiWordsOptions {
  /** K */
  symbols: number;
  words?: number;
  /** Share of all words that are to be different: repeats that cost least make room for other words. */
  leastDifferent?: number;
}

/** Words of a symbol that are ranked for each one that is shown: what repeats can make room for. */
const rankedForEach = 10;

/**
 * The first words of each of K symbols by their part of the mutual information of words and symbols,
 * p(w, k) · ln(p(w, k) / (p(w) p(k))), where p(w, k) is the share that texts of symbol k with the word w have of all pairs
 * of text and word, by the weights of their uses, and p(w) and p(k) are its sums. A text has a word once, however often it
 * says it: one long text makes no word of a symbol. Only words commoner with the symbol than without count. Equal scores
 * rank by the word's place in the vocabulary, or by the symbol's number. Of words that several symbols have, those that
 * mean least to one give way (`fewerRepeats`).
 */
export function pmiWords(
  matrix: DocumentTerms,
  uses: SymbolUses,
  { symbols: K, words = 10, leastDifferent = 0.85 }: PmiWordsOptions,
): RankedWord[][] {
  const presence = { ...matrix, counts: new Float32Array(matrix.counts.length).fill(1) };
  const scoreOf = informationOf(presence, uses, K);
  const ranked = Array.from(countsBySymbol(presence, uses, K), (found) => {
    const terms = found.terms.filter((term) => scoreOf(found, term) > 0);
    const scores = terms.map((term) => scoreOf(found, term));
    return highest(scores, terms, rankedForEach * words).map((at) => ({
      word: matrix.words[terms[at]!]!,
      score: scores[at]!,
    }));
  });
  return fewerRepeats(ranked, { words, leastDifferent });
}

function informationOf(matrix: DocumentTerms, uses: SymbolUses, K: number) {
  const { perWord, perSymbol } = weightedCounts(matrix, uses, K);
  const all = perSymbol.reduce((sum, count) => sum + count, 0);
  return ({ symbol, counts }: SymbolCounts, term: number): number => {
    const both = counts[term]! / all;
    return both * Math.log(both / ((perWord[term]! / all) * (perSymbol[symbol]! / all)));
  };
}
