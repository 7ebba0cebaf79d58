import { describe, expect, test } from 'vitest';
import { documentTerms, termsOfRows } from '../src/measures/document-terms.ts';
import { subsampleStability } from '../src/measures/subsample-stability.ts';
import { textWords } from '../src/measures/text-words.ts';

describe('stability over subsamples', () => {
  const words = [['a', 'b'], ['c', 'd'], []];

  test('is 1 where the same symbols come out under other numbers', () => {
    const one = { rows: [0, 1, 2, 4, 5], symbols: [0, 0, 1, 1, 0], words };
    const other = { rows: [1, 2, 3, 4, 5], symbols: [1, 0, 2, 0, 1], words: [words[1]!, words[0]!, []] };
    expect(subsampleStability([one, other])).toEqual({ nmi: expect.closeTo(1, 9), ari: 1, words: 1 });
  });

  test('compares common texts alone, and matches symbols one to one by the words they share', () => {
    // Common: texts 1, 2, 3, 4 as 0 0 1 1 and 0 1 1 1; scikit-learn has NMI 0.34371101 and ARI 0.
    const one = {
      rows: [0, 1, 2, 3, 4],
      symbols: [5, 0, 0, 1, 1],
      words: [
        ['a', 'b'],
        ['b', 'c'],
      ],
    };
    const other = {
      rows: [1, 2, 3, 4, 9],
      symbols: [0, 1, 1, 1, 7],
      words: [
        ['b', 'c'],
        ['x', 'y'],
        ['b', 'z'],
      ],
    };
    const { nmi, ari, words: matched } = subsampleStability([one, other])!;
    expect(nmi).toBeCloseTo(0.3437110184854508, 9);
    expect(ari).toBeCloseTo(0, 9);
    // bc with bc: 1; ab with bz: ½; xy is left over.
    expect(matched).toBeCloseTo(1.5 / 3, 12);
  });

  test('is the mean of all pairs, and nothing for one subsample or without common texts', () => {
    const a = { rows: [0, 1, 2, 3], symbols: [0, 0, 1, 1], words };
    const b = { rows: [0, 1, 2, 3], symbols: [0, 1, 0, 1], words: [['x'], ['y']] };
    const found = subsampleStability([a, a, b])!;
    // Pairs: the same, and twice two that share no information.
    expect(found.nmi).toBeCloseTo(1 / 3, 9);
    expect(found.words).toBeCloseTo(1 / 3, 9);
    expect(subsampleStability([a])).toBeUndefined();
    expect(subsampleStability([a, { ...a, rows: [7, 8, 9, 10] }])).toBeUndefined();
  });
});

test('counts of some texts are those of these texts counted alone, over the whole vocabulary', () => {
  const texts = ['red red blue', 'green', '', 'blue green blue', 'red'];
  const matrix = documentTerms(textWords(texts));
  const rows = [3, 0, 2];
  const some = termsOfRows(matrix, rows);
  const alone = documentTerms(textWords(['red blue green', ...rows.map((row) => texts[row]!)]));
  expect(some.words).toEqual(alone.words);
  const table = ({ starts, terms, counts, words }: typeof some, first: number) =>
    rows.map((_, at) => {
      const [from, to] = [starts[at + first]!, starts[at + first + 1]!];
      return Array.from(terms.subarray(from, to), (term, i) => [words[term], counts[from + i]]);
    });
  expect(table(some, 0)).toEqual(table(alone, 1));
  expect(Array.from(some.frequencies)).toEqual(Array.from(alone.frequencies, (count) => count - 1));
});
