import { Generator, randn, scope, Tensor } from '@hidden-schema/torch';
import { describe, expect, test } from 'vitest';
import { nearestCentre } from '../src/clusters.ts';
import { kMeans, sentenceCodes } from '../src/encoder/sentence-codes.ts';

const rowsOf = (matrix: Tensor): number[][] => {
  const [rows, width] = matrix.shape as [number, number];
  const flat = matrix.toNumbers();
  return Array.from({ length: rows }, (_, i) => flat.slice(i * width, (i + 1) * width));
};
const distance = (a: readonly number[], b: readonly number[]) =>
  a.reduce((sum, x, i) => sum + (x - b[i]!) ** 2, 0);

describe('k-means', () => {
  test('finds the means of groups that lie far apart', () => {
    scope(() => {
      const generator = new Generator(3);
      const corners = [
        [0, 0],
        [50, 0],
        [0, 50],
      ];
      const noise = rowsOf(randn([90, 2], generator));
      const points = noise.map((row, n) => row.map((x, d) => x + corners[n % 3]![d]!));
      const means = corners.map((_, c) =>
        [0, 1].map((d) => points.reduce((sum, row, n) => sum + (n % 3 === c ? row[d]! / 30 : 0), 0)),
      );
      const data = Tensor.fromArray(Float32Array.from(points.flat()), [90, 2]);
      // A start may put two centres into one group; of several starts most do not.
      const found = Array.from({ length: 12 }, () => rowsOf(kMeans(data, 3, generator)));
      const exact = found.filter((centres) =>
        means.every((mean) => centres.some((centre) => distance(mean, centre) < 1e-6)),
      );
      expect(exact.length).toBeGreaterThanOrEqual(3);
    });
  });

  test('the nearest centre is the nearest by brute force, among those allowed', () => {
    scope(() => {
      const generator = new Generator(5);
      const [points, centres] = [randn([40, 6], generator), randn([7, 6], generator)];
      const allowed = randn([40, 7], generator).gt(0).to('float32');
      const near = nearestCentre(points, centres).toNumbers();
      const among = nearestCentre(points, centres, allowed).toNumbers();
      const [rows, all, may] = [rowsOf(points), rowsOf(centres), rowsOf(allowed)];
      for (const [n, row] of rows.entries()) {
        const order = all.map((_, k) => k).sort((a, b) => distance(row, all[a]!) - distance(row, all[b]!));
        expect(near[n]).toBe(order[0]);
        const best = order.find((k) => may[n]![k] === 1);
        if (best !== undefined) expect(among[n]).toBe(best);
      }
    });
  });

  test('more centres than points is no fault', () => {
    scope(() => {
      const generator = new Generator(1);
      const points = randn([3, 4], generator);
      const centres = rowsOf(kMeans(points, 8, generator));
      expect(centres.flat().every(Number.isFinite)).toBe(true);
      expect(rowsOf(points).every((row) => centres.some((centre) => distance(row, centre) < 1e-9))).toBe(
        true,
      );
    });
  });
});

describe('sentences as walks', () => {
  const options = { symbols: 8, length: 4, density: 0.4, selfLoops: true };
  const drawn = () => randn([500, 6], new Generator(2));

  test('every step follows a link; links are symmetric and as many as asked', () => {
    scope(() => {
      const { walks, adjacency } = sentenceCodes(drawn(), options, new Generator(1));
      const links = rowsOf(adjacency);
      for (const walk of rowsOf(walks))
        for (let i = 1; i < walk.length; i++) expect(links[walk[i - 1]!]![walk[i]!]).toBe(1);
      for (const [i, row] of links.entries())
        for (const [j, value] of row.entries()) expect(value).toBe(links[j]![i]);
      const share = links.flat().reduce((a, b) => a + b, 0) / 64;
      expect(Math.abs(share - 0.4)).toBeLessThan(0.08);
      expect(links.every((row) => row.includes(1))).toBe(true);
    });
  });

  test('without self-loops no symbol follows itself', () => {
    scope(() => {
      const { walks } = sentenceCodes(drawn(), { ...options, selfLoops: false }, new Generator(1));
      for (const walk of rowsOf(walks))
        for (let i = 1; i < walk.length; i++) expect(walk[i]).not.toBe(walk[i - 1]);
    });
  });

  test('sentences with the same walk lie closer together than others', () => {
    scope(() => {
      const vectors = drawn();
      const walks = rowsOf(sentenceCodes(vectors, options, new Generator(1)).walks).map(String);
      const rows = rowsOf(vectors);
      const sums = { same: [0, 0], other: [0, 0] };
      for (let a = 0; a < rows.length; a++) {
        for (let b = 0; b < a; b++) {
          const into = walks[a] === walks[b] ? sums.same : sums.other;
          into[0]! += distance(rows[a]!, rows[b]!);
          into[1]!++;
        }
      }
      expect(sums.same[1]).toBeGreaterThan(20);
      expect(sums.same[0]! / sums.same[1]!).toBeLessThan((0.5 * sums.other[0]!) / sums.other[1]!);
    });
  });

  test('the same generator gives the same codes', () => {
    scope(() => {
      const codes = () => sentenceCodes(drawn(), options, new Generator(9)).walks.toNumbers();
      expect(codes()).toEqual(codes());
    });
  });
});
