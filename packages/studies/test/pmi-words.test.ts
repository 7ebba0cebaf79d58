import { describe, expect, test } from 'vitest';
import { documentTerms } from '../src/measures/document-terms.ts';
import { pmiWords } from '../src/measures/pmi-words.ts';
import { textWords } from '../src/measures/text-words.ts';

const texts = ['red red blue', 'red green sky', 'sky blue tea tea', 'tea cup cup red', 'cup sky green', ''];
const matrix = documentTerms(textWords(texts));
const K = 4;
const uses = {
  symbols: Int32Array.from([0, 1, 0, 2, 2, 1, 1, -1, 0, 2, 2, 0]),
  length: 2,
  weights: [0.9, 0.2, 0.5, 0.5, 1, 0.1, 0.7, 0.3, 0.4, 0.6, 0.8, 0.3],
};

/** The formula word by word: every word of every text once, with no sharing of sums. */
function bruteForce(word: string, k: number): number {
  const count = (wanted: (word: string, symbol: number) => boolean): number => {
    let sum = 0;
    for (const [n, text] of texts.entries())
      for (const other of new Set(text.split(' ').filter((one) => one !== '')))
        for (const step of [0, 1]) {
          const symbol = uses.symbols[2 * n + step]!;
          if (symbol >= 0 && wanted(other, symbol)) sum += uses.weights[2 * n + step]!;
        }
    return sum;
  };
  const all = count(() => true);
  const both = count((other, symbol) => other === word && symbol === k) / all;
  const [w, s] = [count((other) => other === word) / all, count((_, symbol) => symbol === k) / all];
  return both > 0 ? both * Math.log(both / (w * s)) : 0;
}

describe('words of symbols by their part of the information', () => {
  const expected = Array.from({ length: K }, (_, k) =>
    matrix.words
      .map((word) => ({ word, score: bruteForce(word, k) }))
      .filter(({ score }) => score > 0)
      .toSorted((a, b) => b.score - a.score),
  );

  test('as the formula says', () => {
    const found = pmiWords(matrix, uses, { symbols: K, leastDifferent: 0 });
    expect(found.map((list) => list.map(({ word }) => word))).toEqual(
      expected.map((list) => list.map(({ word }) => word)),
    );
    for (const [k, list] of found.entries())
      for (const [at, { score }] of list.entries()) expect(score).toBeCloseTo(expected[k]![at]!.score, 12);
    expect(found.flat().length).toBeGreaterThan(5);
    expect(found[3]).toEqual([]);
  });

  test('as many words are given as asked for', () => {
    const short = pmiWords(matrix, uses, { symbols: K, words: 1 });
    expect(short.map((list) => list.length)).toEqual([1, 1, 1, 0]);
  });
});
