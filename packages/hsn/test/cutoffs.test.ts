import { Random } from '@hidden-schema/base';
import { scope, Tensor, tensor } from '@hidden-schema/torch';
import { describe, expect, test } from 'vitest';
import { fitCutoffs } from '../src/discovery/cutoffs.ts';
import { dictionaryOf } from '../src/discovery/dictionary.ts';
import { sourceOf } from '../src/discovery/point-source.ts';
import { pursue } from '../src/discovery/pursuit.ts';
import { Replicas } from '../src/train/replicas.ts';
import { dot, unit } from './planted-points.ts';

const [K, S] = [30, 160];

/** Texts that have a first symbol and up to two more, and noise all over. */
function planted(texts: number, seed: number) {
  const random = new Random(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
  const symbols = Array.from({ length: K }, () => unit(Array.from({ length: S }, normal)));
  const named = Array.from({ length: texts }, () => {
    const own = new Set([random.int(K)]);
    const size = 1 + random.int(3);
    while (own.size < size) own.add(random.int(K));
    return [...own];
  });
  const points = named.map((own) =>
    unit(
      Array.from({ length: S }, (_, s) =>
        own.reduce((sum, k, i) => sum + [1, 0.75, 0.65][i]! * symbols[k]![s]!, 0.08 * normal()),
      ),
    ),
  );
  return { symbols, named, points };
}

const read = (symbols: number[][]) => ({ symbols: tensor(symbols), starts: tensor(symbols) });
const cutoffsOf = (points: number[][], symbols: number[][], falseDiscoveryRate: number) =>
  scope(() =>
    fitCutoffs(sourceOf(tensor(points)), read(symbols), {
      falseDiscoveryRate,
      replicas: Replicas.alone,
    }).toNumbers(),
  );

/** The value below which a share lies, straight lines between neighbours. */
function quantile(sorted: readonly number[], share: number): number {
  const at = share * sorted.length - 0.5;
  const low = Math.floor(at);
  return sorted[low]! + (at - low) * (sorted[low + 1]! - sorted[low]!);
}

/** 1 − Φ(z), by Simpson's rule up to where nothing is left. */
function tail(z: number): number {
  const [steps, end] = [2000, z + 12];
  const h = (end - z) / steps;
  const density = (x: number) => Math.exp(-(x * x) / 2) / Math.sqrt(2 * Math.PI);
  let sum = density(z) + density(end);
  for (let i = 1; i < steps; i++) sum += (i % 2 === 1 ? 4 : 2) * density(z + i * h);
  return (sum * h) / 3;
}

/** Deviations beyond which 2·rate of a normal distribution lie, by halving; at least 1.75. */
function farthest(rate: number): number {
  let [low, high] = [0, 10];
  while (high - low > 1e-9) {
    const middle = (low + high) / 2;
    if (tail(middle) > 2 * rate) low = middle;
    else high = middle;
  }
  return Math.max(1.75, low);
}

/** The same from all cosines, sorted: no bins but those of scores that may be chosen. */
function cutoffsBySorting(points: number[][], symbols: number[][], rate: number): number[] {
  const cosines = points.map((x) => symbols.map((e) => dot(x, e)));
  const nulls = symbols.map((_, k) => {
    const sorted = cosines.map((row) => row[k]!).sort((a, b) => a - b);
    const [median, lower] = [quantile(sorted, 0.5), quantile(sorted, 0.25)];
    const mean = sorted.reduce((sum, c) => sum + c, 0) / sorted.length;
    const variance = sorted.reduce((sum, c) => sum + (c - mean) ** 2, 0) / sorted.length;
    const far = mean + farthest(rate) * Math.sqrt(variance);
    return { median, deviation: (median - lower) / 0.6744897501960817, far };
  });
  const scores = cosines.flatMap((row) => {
    const first = row.indexOf(Math.max(...row));
    return row.flatMap((c, k) => (k === first ? [] : [(c - nulls[k]!.median) / nulls[k]!.deviation]));
  });
  for (let bin = 150; bin < 1000; bin++) {
    const z = bin / 100;
    const seen = scores.filter((score) => score >= z).length;
    if (seen > 0 && scores.length * tail(z) <= rate * seen)
      return nulls.map(({ median, deviation, far }) => Math.min(far, median + z * deviation));
  }
  return nulls.map(({ far }) => far);
}

describe('cosines from which symbols stand out', () => {
  test.each([0.005, 0.02, 0.1, 0.5])('are those of all cosines sorted, at a rate of %f', (rate) => {
    const { points, symbols } = planted(1500, 4);
    const wanted = cutoffsBySorting(points, symbols, rate);
    const found = cutoffsOf(points, symbols, rate);
    // Bins of cosines are 0.001 wide, and a score 0.01; a deviation is about 0.1.
    for (const [k, cutoff] of found.entries())
      expect(Math.abs(cutoff - wanted[k]!), `symbol ${k}`).toBeLessThan(0.004);
  });

  test('are no lower than one and a half deviations, whatever rate is accepted', () => {
    const { points, symbols } = planted(600, 5);
    const [all, wanted] = [cutoffsOf(points, symbols, 1), cutoffsBySorting(points, symbols, 1)];
    for (const [k, cutoff] of all.entries()) expect(Math.abs(cutoff - wanted[k]!)).toBeLessThan(0.004);
  });

  test.each([
    [0.02, 1.75],
    [0.001, 2.878],
  ])('at a rate of %f are %f deviations above the mean where nothing lies beyond the null', (rate, far) => {
    // Texts that are noise alone.
    const random = new Random(1);
    const normal = () => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
    const row = () => unit(Array.from({ length: S }, normal));
    const [symbols, points] = [Array.from({ length: 10 }, row), Array.from({ length: 800 }, row)];
    const wanted = cutoffsBySorting(points, symbols, rate);
    for (const [k, cutoff] of cutoffsOf(points, symbols, rate).entries()) {
      expect(Math.abs(cutoff - wanted[k]!)).toBeLessThan(0.002);
      // The deviation of a cosine in so many dimensions.
      expect(Math.abs(cutoff - far / Math.sqrt(S))).toBeLessThan(0.03);
    }
  });

  test('do not depend on how points lie in blocks', () => {
    const { points, symbols } = planted(1500, 6);
    const turned = [...points.slice(700), ...points.slice(0, 700)];
    const [one, two] = [cutoffsOf(points, symbols, 0.05), cutoffsOf(turned, symbols, 0.05)];
    for (const [k, cutoff] of one.entries()) expect(two[k]).toBeCloseTo(cutoff, 5);
  });

  test.each([0.02, 0.1])(
    'let no more than %f of later symbols be false, and most true ones through',
    (rate) => {
      const { points, symbols, named } = planted(3000, 8);
      scope(() => {
        const [places, own] = [tensor(points), read(symbols)];
        const cutoffs = fitCutoffs(sourceOf(places), own, {
          falseDiscoveryRate: rate,
          replicas: Replicas.alone,
        });
        const sharpness = { first: 800, later: 800 };
        const length = 6;
        const { walks } = pursue(places, dictionaryOf(own.symbols, { ...own, cutoffs }), {
          length,
          candidates: 1,
          sharpness,
        });
        const flat = walks.toNumbers();
        let [right, wrong] = [0, 0];
        for (const [n, own] of named.entries()) {
          const walk = flat.slice(n * length, (n + 1) * length);
          for (const later of new Set(walk.slice(1).filter((symbol) => symbol !== walk[0])))
            if (own.includes(later)) right++;
            else wrong++;
        }
        const there = named.reduce((sum, own) => sum + own.length - 1, 0);
        // Noise: three standard deviations of so many false ones.
        const expected = rate * (right + wrong);
        expect(wrong).toBeLessThan(expected + 3 * Math.sqrt(expected));
        expect(right / there).toBeGreaterThan(0.8);
      });
    },
  );

  test('of symbols that all texts see alike stay finite', () => {
    const same = Array.from({ length: 40 }, () => unit([1, 2, 3]));
    const found = cutoffsOf(same, [unit([1, 0, 0]), unit([0, 1, 0]), unit([1, 2, 3])], 0.02);
    expect(found.every(Number.isFinite)).toBe(true);
    expect(Tensor.fromArray(Float32Array.from(found), [3]).isFinite().all().item()).toBe(1);
  });
});
