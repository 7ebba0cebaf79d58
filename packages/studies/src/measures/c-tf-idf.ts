import type { DocumentTerms } from './document-terms.ts';
import { highest } from './highest.ts';
import { type SymbolUses, usesBySymbol } from './symbol-uses.ts';

export interface RankedWord {
  readonly word: string;
  readonly score: number;
}

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
  const bySymbol = usesBySymbol(uses, K);
  const { perWord, perSymbol } = weightedCounts(matrix, uses, K);
  const mean = perSymbol.reduce((sum, count) => sum + count, 0) / K;
  const rarity = perWord.map((count) => Math.log(1 + mean / count));
  const counts = new Float64Array(matrix.words.length);
  return Array.from({ length: K }, (_, k) => {
    const touched: number[] = [];
    for (let use = bySymbol.starts[k]!; use < bySymbol.starts[k + 1]!; use++) {
      const text = bySymbol.texts[use]!;
      for (let at = matrix.starts[text]!; at < matrix.starts[text + 1]!; at++) {
        const term = matrix.terms[at]!;
        const more = bySymbol.weights[use]! * matrix.counts[at]!;
        if (counts[term] === 0 && more > 0) touched.push(term);
        counts[term]! += more;
      }
    }
    const scores = touched.map((term) => (counts[term]! / perSymbol[k]!) * rarity[term]!);
    for (const term of touched) counts[term] = 0;
    return highest(scores, touched, most).map((at) => ({
      word: matrix.words[touched[at]!]!,
      score: scores[at]!,
    }));
  });
}

/** Weighted counts of each word over all symbols, and of all words by symbol. */
function weightedCounts(matrix: DocumentTerms, { symbols, length, weights }: SymbolUses, K: number) {
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
