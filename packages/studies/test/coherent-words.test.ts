import { expect, test } from 'vitest';
import { coherentWords, rowsByWord } from '../src/measures/coherent-words.ts';

const vectors = {
  oil: [1, 0],
  gas: [0.9, 0.1],
  petrol: [1, 0.1],
  said: [-0.2, 1],
  tuba: [0, 1],
  drum: [0.1, 1],
};
const vectorOf = rowsByWord(Object.keys(vectors), Float32Array.from(Object.values(vectors).flat()));
const list = (...words: [string, number][]) => words.map(([word, score]) => ({ word, score }));

test('words that are unlike the others of a symbol fall back, and scores still count', () => {
  const [first, second] = coherentWords(
    [list(['oil', 9], ['said', 8], ['gas', 7], ['petrol', 3]), list(['tuba', 4], ['drum', 1])],
    vectorOf,
    { words: 3 },
  );
  expect(first!.map(({ word }) => word)).toEqual(['oil', 'gas', 'petrol']);
  expect(second!.map(({ word }) => word)).toEqual(['tuba', 'drum']);
});

test('scores are √score times the cosine with the weighted middle', () => {
  const [words] = coherentWords([list(['oil', 9], ['tuba', 4])], vectorOf, { words: 2 });
  const length = Math.hypot(9, 4);
  expect(words![0]!.score).toBeCloseTo(3 * (9 / length), 6);
  expect(words![1]!.score).toBeCloseTo(2 * (4 / length), 6);
});

test('a symbol without words has none', () => {
  expect(coherentWords([[]], vectorOf, { words: 3 })).toEqual([[]]);
});
