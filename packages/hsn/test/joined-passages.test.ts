import { Generator, randn, scope, tensor } from '@hidden-schema/torch';
import { describe, expect, test } from 'vitest';
import { dictionaryOf, unitRows } from '../src/discovery/dictionary.ts';
import { joinedWeights, joinPassages, mostSaid, textPoints } from '../src/discovery/passages.ts';
import { pursue, solveNnls } from '../src/discovery/pursuit.ts';
import { dot, unit } from './planted-points.ts';

const axes = [
  [1, 0, 0, 0],
  [0, 1, 0, 0],
  [0, 0, 1, 0],
  [0, 0, 0, 1],
];
const open = [0, 1, 2, 3].map(() => [1, 1, 1, 1]);
const options = { length: 4, sharpness: { first: 200, later: 200 } };
const dictionary = (links = open) =>
  dictionaryOf(tensor(axes), { linkProbabilities: tensor(links), cutoffs: tensor([0.3, 0.3, 0.3, 0.3]) });

/** Passages of one text: two begin with symbol 1, one with 0; 3 is said once beside 1, and 2 hardly. */
const passages = [unit([0.1, 1, 0, 0.6]), unit([0.1, 1, 0.1, 0]), unit([1, 0.1, 0, 0])];

const walkOf = (points: number[][], counts: number[], links = open): number[][] =>
  scope(() => {
    const given = { points: tensor(points), passages: Int32Array.from(counts) };
    const flat = joinPassages(given, dictionary(links), options).walks.toNumbers();
    return counts.map((_, d) => flat.slice(4 * d, 4 * d + 4));
  });

describe('the walk of a text of several passages', () => {
  test('begins with what most passages begin with, goes on by weight, and then stays', () => {
    // Shares of squared length by hand: 0 has a whole passage, 3 a part of one, 2 is below its cutoff.
    expect(walkOf(passages, [3])).toEqual([[1, 0, 3, 3]]);
    expect(walkOf(passages.toReversed(), [3])).toEqual([[1, 0, 3, 3]]);
    const most = [...passages, ...[1, 2, 3].map(() => passages[2]!)];
    expect(walkOf(most, [6])).toEqual([[0, 1, 3, 3]]);
  });

  test('keeps to links, and is read from scores of which the best walk is this one', () => {
    const links = open.map((row) => [...row]);
    links[1]![0] = links[0]![1] = 0.1;
    expect(walkOf(passages, [3], links)).toEqual([[1, 3, 0, 0]]);
    const given = { points: tensor(passages), passages: Int32Array.of(3) };
    const { scores } = joinPassages(given, dictionary(), options);
    const [first, second, third] = scores.map((step) => step.toNumbers());
    const q = passages.map((x) => {
      const gains = axes.map((e) => Math.exp(200 * dot(e, x) * Math.abs(dot(e, x))));
      return gains.map((gain) => gain / gains.reduce((sum, other) => sum + other));
    });
    const means = axes.map((_, k) => q.reduce((sum, row) => sum + row[k]!, 0) / 3);
    for (const [k, mean] of means.entries()) expect(Math.exp(first![k]!)).toBeCloseTo(mean, 5);
    // a·c of axes is c²; each passage names what is above its cutoff, and its first symbol.
    const w = [passages[2]![0]! ** 2, 0, 0, passages[0]![3]! ** 2].map((share) => share / 3);
    expect(second![0]).toBeCloseTo(200 * w[0]!, 3);
    expect(second![1]).toBe(0);
    expect(second![3]).toBeCloseTo(200 * w[3]!, 3);
    expect(second![2]).toBeLessThan(-100);
    expect(third![0]).toBe(0);
    expect(third![1]).toBeLessThan(-100);
  });

  test('of one passage is that passage’s own, beside texts of several', () => {
    const points = unitRows(randn([9, 4], new Generator(3)));
    const alone = pursue(points, dictionary(), { ...options, candidates: 1 }).walks.toNumbers();
    const rows = Array.from({ length: 9 }, (_, n) => points.toNumbers().slice(4 * n, 4 * n + 4));
    const scores: number[][] = [];
    pursue(points, dictionary(), {
      ...options,
      candidates: 1,
      onStep: (_, step) => scores.push(step.toNumbers()),
    });
    const given = {
      points: tensor([...rows, ...passages]),
      passages: Int32Array.of(...rows.map(() => 1), 3),
    };
    for (const [step, own] of joinPassages(given, dictionary(), options).scores.entries())
      expect(own.toNumbers().slice(0, 36)).toEqual(scores[step]);
    expect(walkOf([...rows, ...passages], [...rows.map(() => 1), 3]).flat()).toEqual([...alone, 1, 0, 3, 3]);
  });

  test('has the means of its passages’ weights, and a point in the middle of theirs', () => {
    const given = { points: tensor(passages), passages: Int32Array.of(3) };
    const walk = tensor([[1, 0, 3, 3]]).to('int64');
    const each = passages.map((x) => solveNnls(tensor([x]), dictionary(), walk).toNumbers());
    const weights = joinedWeights(given, dictionary(), walk).toNumbers();
    for (const [i, weight] of weights.entries())
      expect(weight).toBeCloseTo(each.reduce((sum, row) => sum + row[i]!, 0) / 3, 6);
    const sum = passages.reduce((all, x) => all.map((value, s) => value + x[s]!), [0, 0, 0, 0]);
    for (const [s, value] of textPoints(given).toNumbers().entries())
      expect(value).toBeCloseTo(unit(sum)[s]!, 6);
  });

  test('what most passages begin with, the lowest of equal ones', () => {
    expect(mostSaid([4, 2, 4, 3, 1, 7], Int32Array.of(3, 2, 1))).toEqual([4, 1, 7]);
  });
});
