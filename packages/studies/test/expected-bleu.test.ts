import { TrainedWalks } from '@hidden-schema/hsn';
import { startEngine, Tensor } from '@hidden-schema/torch';
import { beforeAll, describe, expect, test } from 'vitest';
import { bleuWords, sentenceBleu } from '../src/measures/bleu.ts';
import { BleuIndex } from '../src/measures/bleu-index.ts';
import { EventRegression } from '../src/reasoning/event-regression.ts';
import { ExpectedBleu } from '../src/reasoning/expected-bleu.ts';

const lists = [
  ['to go home', 'to sleep'],
  ['to go to the big big house', 'home'],
  ['To sleep'],
  ['rest', 'to go to bed'],
  ['to have a rest at home', 'to go home now'],
];
const texts = ['to go home', 'to go to the house to rest', 'sleep', 'big big big house', 'nothing'];
const exact = (text: string, list: readonly string[]) =>
  sentenceBleu(bleuWords(text), list.map(bleuWords), { smoothing: 'method1' });

describe('BLEU-2 of a text against many lists of references', () => {
  test.each(texts)('"%s" has that of each list', (text) => {
    const found = new BleuIndex(lists).against(text);
    for (const [i, list] of lists.entries()) expect(found[i]).toBeCloseTo(exact(text, list), 12);
  });
});

describe('expected BLEU-2', () => {
  const angles = [0.1, 0.5, 0.9, 1.4, 2];
  const vectors = angles.map((angle) => [Math.cos(angle), Math.sin(angle)] as const);
  let expected: ExpectedBleu;
  beforeAll(() => {
    startEngine();
    const known = new TrainedWalks({
      ...{ events: angles.map(String), objects: [], walks: new Int32Array(0) },
      ...{ event: new Int32Array(0), relation: new Int32Array(0), object: new Int32Array(0) },
      vectors: Tensor.fromArray(Float32Array.from(vectors.flat()), [angles.length, 2]),
    });
    expected = new ExpectedBleu(new EventRegression(known, [0, 1, 2, 3, 4]), lists);
  });

  /** A line by steps down the slope of Σ (y − a − b·x)² + n · penalty · |b|². */
  function descended(values: readonly number[], x: readonly [number, number]): number {
    let [a, b, c] = [0, 0, 0];
    for (let step = 0; step < 400_000; step++) {
      let [da, db, dc] = [0, 5 * 1e-4 * b, 5 * 1e-4 * c];
      for (const [i, [u, v]] of vectors.entries()) {
        const missed = a + b * u + c * v - values[i]!;
        da += missed;
        db += missed * u;
        dc += missed * v;
      }
      a -= 0.05 * da;
      b -= 0.05 * db;
      c -= 0.05 * dc;
    }
    return a + b * x[0] + c * x[1];
  }

  test('is what least squares with a penalty foresees from the vector of an event', () => {
    const asked = [Math.cos(0.7), Math.sin(0.7)] as const;
    const of = Tensor.fromArray(Float32Array.from([1, 0, ...asked]), [2, 2]);
    const [, found] = expected.of(of, [['sleep'], texts]);
    for (const [at, text] of texts.entries())
      expect(found![at]).toBeCloseTo(
        descended(
          lists.map((list) => exact(text, list)),
          asked,
        ),
        4,
      );
  });
});
