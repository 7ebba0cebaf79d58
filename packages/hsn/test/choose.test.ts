import { Random } from '@hidden-schema/base';
import { setThreads, Tensor } from '@hidden-schema/torch';
import { describe, expect, test } from 'vitest';
import { adjustedRand, chooseSymbols, meanSilhouette } from '../src/discovery/choose.ts';
import { sourceOf } from '../src/discovery/point-source.ts';
import { dot, unit } from './planted-points.ts';

setThreads(1);

/** Unit points about so many directions that are apart. */
function blobs(count: number, each: number, noise: number): number[][] {
  const random = new Random(9);
  const width = 24;
  return Array.from({ length: count * each }, (_, n) =>
    unit(Array.from({ length: width }, (_, s) => (s === n % count ? 1 : 0) + noise * (random.next() - 0.5))),
  );
}
const tensor = (rows: number[][]) =>
  Tensor.fromArray(Float32Array.from(rows.flat()), [rows.length, rows[0]!.length]);

/** The definition, pair by pair. */
function silhouetteByHand(rows: number[][], clusters: number[], count: number): number {
  const scores = rows.map((row, n) => {
    const distance = (cluster: number) => {
      const others = rows.flatMap((other, m) =>
        m !== n && clusters[m] === cluster ? [1 - dot(row, other)] : [],
      );
      return others.length === 0 ? undefined : others.reduce((sum, d) => sum + d, 0) / others.length;
    };
    const a = distance(clusters[n]!);
    if (a === undefined) return 0;
    const rest = Array.from({ length: count }, (_, c) => (c === clusters[n] ? undefined : distance(c)));
    const b = Math.min(...rest.filter((d) => d !== undefined));
    return (b - a) / Math.max(a, b);
  });
  return scores.reduce((sum, score) => sum + score, 0) / rows.length;
}

/** Pairs that both partitions treat alike, counted one by one, adjusted for chance. */
function randByHand(one: number[], other: number[]): number {
  let [both, first, second, all] = [0, 0, 0, 0];
  for (let i = 0; i < one.length; i++)
    for (let j = 0; j < i; j++) {
      const [a, b] = [one[i] === one[j], other[i] === other[j]];
      all++;
      if (a) first++;
      if (b) second++;
      if (a && b) both++;
    }
  const expected = (first * second) / all;
  return (both - expected) / ((first + second) / 2 - expected);
}

describe('how many symbols', () => {
  test('the silhouette is that of its definition, a point alone counting 0', () => {
    const rows = blobs(4, 5, 1.5);
    const clusters = rows.map((_, n) => (n === 0 ? 4 : n % 3));
    const points = tensor(rows);
    const found = meanSilhouette(points.matmul(points.transpose(0, 1)), clusters, 5);
    expect(found).toBeCloseTo(silhouetteByHand(rows, clusters, 5), 5);
  });

  test('the adjusted Rand index is that of counting pairs', () => {
    const random = new Random(2);
    const one = Array.from({ length: 40 }, () => random.int(4));
    const other = one.map((cluster) => (random.next() < 0.3 ? random.int(5) : cluster));
    expect(adjustedRand(one, other)).toBeCloseTo(randByHand(one, other), 10);
    expect(adjustedRand(one, one)).toBe(1);
  });

  test.each([6, 9])('%i planted groups are found, and the curve says so', (count) => {
    const { symbols, curve } = chooseSymbols(sourceOf(tensor(blobs(count, 30, 0.6))), { seed: 0, fewest: 3 });
    expect(symbols).toBe(count);
    expect(curve[0]!.symbols).toBe(3);
    const top = curve.reduce((best, one) => (one.score > best.score ? one : best));
    expect(top.symbols).toBe(count);
    expect(top.score).toBeCloseTo(top.silhouette * top.stability, 12);
  });
});
