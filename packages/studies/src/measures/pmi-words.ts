import type { RankedWord } from './c-tf-idf.ts';
import type { DocumentTerms } from './document-terms.ts';
import { fewerRepeats } from './fewer-repeats.ts';
import { highest } from './highest.ts';
import { countsBySymbol, type SymbolCounts, weightedCounts } from './symbol-counts.ts';
import type { SymbolUses } from './symbol-uses.ts';

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
