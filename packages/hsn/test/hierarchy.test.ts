import { Random } from '@hidden-schema/base';
import { describe, expect, test } from 'vitest';
import { groupsAt, joinSymbols } from '../src/discovery/hierarchy.ts';
import { dot, unit } from './planted-points.ts';

const K = 12;
const random = new Random(7);
const vectors = Array.from({ length: K }, () => unit(Array.from({ length: 5 }, () => random.next() - 0.5)));
const texts = Array.from({ length: K }, () => 1 + random.int(50));
const overlaps = Float64Array.from(vectors.flatMap((a) => vectors.map((b) => dot(a, b))));
const none = new Float64Array(K * K);

/** Σ w·‖e − m‖² of a group about its mean: what Ward's method adds to, written out. */
function spreadOf(group: readonly number[]): number {
  const weight = (k: number) => texts[k]! + 1;
  const total = group.reduce((sum, k) => sum + weight(k), 0);
  const mean = vectors[0]!.map((_, s) =>
    group.reduce((sum, k) => sum + (weight(k) * vectors[k]![s]!) / total, 0),
  );
  return group.reduce(
    (sum, k) => sum + weight(k) * vectors[k]!.reduce((all, x, s) => all + (x - mean[s]!) ** 2, 0),
    0,
  );
}

/** The groups of each count, by trying every pair at every step. */
function bruteForce(): Map<number, string> {
  let groups = Array.from({ length: K }, (_, k) => [k]);
  const found = new Map<number, string>();
  const noted = () => found.set(groups.length, text(groups));
  for (noted(); groups.length > 1; noted()) {
    const pairs = groups.flatMap((a, i) => groups.slice(i + 1).map((b) => [a, b] as const));
    const cost = ([a, b]: readonly [number[], number[]]) =>
      spreadOf([...a, ...b]) - spreadOf(a) - spreadOf(b);
    const [a, b] = pairs.reduce((best, pair) => (cost(pair) < cost(best) ? pair : best));
    groups = [...groups.filter((group) => group !== a && group !== b), [...a, ...b]];
  }
  return found;
}

const text = (groups: readonly (readonly number[])[]): string =>
  groups
    .map((group) => group.toSorted((a, b) => a - b).join(' '))
    .sort()
    .join(' | ');

describe('a hierarchy of symbols', () => {
  test('without links is that of Ward, found by trying all pairs', () => {
    const joinings = joinSymbols({ overlaps, links: none, texts });
    const expected = bruteForce();
    for (let count = 1; count <= K; count++)
      expect(text(groupsAt(joinings, K, count)), `${count} groups`).toBe(expected.get(count));
    const total = joinings.reduce((sum, { cost }) => sum + cost, 0);
    expect(total).toBeCloseTo(spreadOf(Array.from({ length: K }, (_, k) => k)), 8);
  });

  test('links bring groups nearer', () => {
    // Four corners of a square: only links say which sides go together.
    const corners = Float64Array.from([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
    const links = new Float64Array(16);
    links[0 * 4 + 2] = links[2 * 4 + 0] = 1;
    links[1 * 4 + 3] = links[3 * 4 + 1] = 1;
    const joinings = joinSymbols({ overlaps: corners, links, texts: [5, 5, 5, 5] });
    expect(groupsAt(joinings, 4, 2)).toEqual([
      [0, 2],
      [1, 3],
    ]);
  });

  test('symbols that are kept apart share a group only when there are fewer groups than they are', () => {
    const apart = new Set([0, 3, 5]);
    const joinings = joinSymbols({ overlaps, links: none, texts, apart });
    const together = (count: number) =>
      groupsAt(joinings, K, count).filter((group) => group.filter((k) => apart.has(k)).length > 1).length;
    for (let count = 3; count <= K; count++) expect(together(count), `${count} groups`).toBe(0);
    expect(together(2)).toBe(1);
    expect(groupsAt(joinings, K, 1)).toEqual([Array.from({ length: K }, (_, k) => k)]);
  });
});
