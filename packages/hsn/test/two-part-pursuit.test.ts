import { digits } from '@hidden-schema/testing/closeness';
import { Generator, noGrad, scope, type Tensor, tensor } from '@hidden-schema/torch';
import { TransformerText } from '@hidden-schema/transformers';
import { describe, expect, test } from 'vitest';
import type { GraphPosterior } from '../src/graph/posterior.ts';
import type { Symbols } from '../src/symbols/symbols.ts';
import type { ReadTuples } from '../src/tasks/tuples/encoder.ts';
import { prefixVectors, TwoPartPursuit } from '../src/tasks/tuples/two-part-pursuit.ts';

const K = 5;
/** Symbols along the axes; 0 – 1 – 2 – 3 – 0 is a ring, and 4 hangs on 1. */
const links = digits('01010 10101 01010 10100 01000');
links[3]![0] = 1;

/** With 1 on the diagonal, where walks may stay. */
const looped = links.map((row, j) => row.map((p, k) => (j === k ? 1 : p)));

function reader(length: number, stays = false): TwoPartPursuit {
  const sizes = { vocabulary: 12, width: K, layers: 1, heads: 1, hidden: 8, positions: 8, dropout: 0 };
  const standing = stays ? K : undefined;
  const text = new TransformerText(sizes, new Generator(1));
  const made = new TwoPartPursuit(text, { length, sharpness: 200, standing });
  const axes = Array.from({ length: K }, (_, i) => Array.from({ length: K }, (_, j) => Number(i === j)));
  made.attach(
    { rows: () => tensor(axes) } as unknown as Symbols,
    { links: () => ({ matrix: () => tensor(stays ? looped : links) }) } as unknown as GraphPosterior,
  );
  noGrad(() => made.starts?.copy_(tensor(axes)));
  noGrad(() => made.cutoffs?.copy_(tensor([0.4, 0.4, 0.4, 0.4, 0.4])));
  return made;
}

const best = (scores: Tensor): number[] => scores.argmax(-1).toNumbers();
const walkOf = (length: number, read: Pick<ReadTuples, 'points' | 'secondWalks'>): number[] =>
  scope(() => best(reader(length).scores(read)));

describe('one dictionary for both halves of a walk', () => {
  test('each half pursues its own point along links, the second from where the first ended', () => {
    // (s, r) lies most along 0, then along 1; o most along 4, then along 3, then along 1.
    const points = { first: tensor([[0.8, 0.6, 0, 0, 0]]), second: tensor([[0, 0.3, 0, 0.5, 0.8]]) };
    // From 1 a link leads to 4; from 4 only back to 1.
    expect(walkOf(4, { points })).toEqual([0, 1, 4, 1]);
    expect(scope(() => best(reader(4).firstScores({ points })))).toEqual([0, 1]);
    // A first half that ends at 3 has no link to 4, so that the second takes what is next best there.
    const away = { ...points, first: tensor([[0.6, 0, 0, 0.8, 0]]) };
    const [, end, begin] = walkOf(4, { points: away });
    expect(links[end!]![begin!]).toBe(1);
    expect(begin).not.toBe(4);
  });

  test('where walks may stay, a half ends once nothing more stands out, and the other goes on from there', () => {
    const points = { first: tensor([[0.9, 0.3, 0, 0.2, 0]]), second: tensor([[0.1, 0.8, 0, 0.1, 0.5]]) };
    const read = (given: typeof points) => scope(() => best(reader(6, true).scores({ points: given })));
    // 1 and 3 are linked to 0 and do not stand out; the second half goes to 1, and on to 4, which does.
    expect(read(points)).toEqual([0, 0, 0, 1, 4, 4]);
    // An object that is most of all what the first half ended at begins there.
    expect(read({ ...points, second: tensor([[0.9, 0.1, 0, 0.6, 0]]) })).toEqual([0, 0, 0, 0, 3, 3]);
    // Beside so clear a first symbol, 0.5 is above the cutoff and still says too little.
    expect(read({ ...points, second: tensor([[0.9, 0.1, 0, 0.5, 0]]) })).toEqual([0, 0, 0, 0, 0, 0]);
  });

  test('a second half that is given stands in place of what is read, for its tuple alone', () => {
    const one = [0.8, 0.6, 0, 0, 0];
    const points = {
      first: tensor([one, one]),
      second: tensor([
        [0, 0.3, 0, 0.5, 0.8],
        [0, 0.3, 0, 0.5, 0.8],
      ]),
    };
    expect(walkOf(4, { points, secondWalks: [[2, 3], undefined] })).toEqual([0, 1, 2, 3, 0, 1, 4, 1]);
  });

  test('needs points, and an even number of steps', () => {
    expect(() => walkOf(4, {})).toThrow(/pursued from points/);
    expect(() => reader(3)).toThrow(/even number of steps from 2, got 3/);
  });
});

test('the vector of (s, r) turns from the event towards the relation', () => {
  const [x, y] = scope(() => prefixVectors(tensor([[1, 0]]), tensor([[0, 1]])).toNumbers());
  expect(x! ** 2 + y! ** 2).toBeCloseTo(1, 6);
  expect(y! / x!).toBeCloseTo(0.5, 6);
});
