import type { RankedWord } from '@hidden-schema/studies/measures/coherent-words';
import type { DocumentTerms } from '@hidden-schema/studies/measures/document-terms';
import { highest } from '@hidden-schema/studies/measures/highest';
import { countsBySymbol, weightedCounts } from '@hidden-schema/studies/measures/pmi-words';
import type { SymbolUses } from '@hidden-schema/studies/measures/symbol-uses';

/**
 * The first words of each of K symbols by c-TF-IDF (Grootendorst 2022, arXiv:2203.05794): tf_{t,k} · ln(1 + A / f_t),
 * where tf is the symbol's share of the word, f_t the word's count over all symbols and A the mean count of words a
 * symbol. A text counts for a symbol by the weight of its use. Equal scores rank by the word's place in the vocabulary;
 * a symbol that no text uses has no words.
 */
export function symbolWords(
  matrix: DocumentTerms,
  uses: SymbolUses,
  { symbols: K, words: most = 10 }: { symbols: number; words?: number },
): RankedWord[][] {
  const { perWord, perSymbol } = weightedCounts(matrix, uses, K);
  const mean = perSymbol.reduce((sum, count) => sum + count, 0) / K;
  const rarity = perWord.map((count) => Math.log(1 + mean / count));
  return Array.from(countsBySymbol(matrix, uses, K), ({ symbol, terms, counts }) => {
    const scores = terms.map((term) => (counts[term]! / perSymbol[symbol]!) * rarity[term]!);
    return highest(scores, terms, most).map((at) => ({
      word: matrix.words[terms[at]!]!,
      score: scores[at]!,
    }));
  });
}
