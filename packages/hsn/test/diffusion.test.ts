import { Random } from '@hidden-schema/base';
import { expectClose } from '@hidden-schema/testing/closeness';
import { Generator, liveTensors, randn, scope, type Tensor, tensor } from '@hidden-schema/torch';
import { describe, expect, test } from 'vitest';
import { unitRows } from '../src/discovery/dictionary.ts';
import { diffusePoints, nearestTexts } from '../src/discovery/diffusion.ts';
import { Replicas } from '../src/train/replicas.ts';
import { dot, unit } from './planted-points.ts';

const alone = { replicas: Replicas.alone };
const rowsOf = (points: Tensor): number[][] => {
  const [count, width] = points.shape as [number, number];
  const all = points.toNumbers();
  return Array.from({ length: count }, (_, n) => all.slice(n * width, (n + 1) * width));
};

/** Points about a few directions, of several lengths. */
function somePoints(count: number, width: number, seed: number): Tensor {
  const random = new Random(seed);
  return scope(() => {
    const centres = rowsOf(randn([4, width], new Generator(seed)));
    const noise = rowsOf(randn([count, width], new Generator(seed + 1)));
    return tensor(
      noise.map((row) => {
        const centre = centres[random.int(4)]!;
        return unit(row.map((x, s) => x + centre[s]!)).map((x) => x * (0.5 + random.next()));
      }),
    );
  });
}

/** The nearest texts of each, by all cosines sorted. */
function nearestBySorting(points: readonly number[][], k: number): { at: number; cosine: number }[][] {
  const units = points.map(unit);
  return units.map((x, n) =>
    units
      .map((y, at) => ({ at, cosine: dot(x, y) }))
      .filter(({ at }) => at !== n)
      .sort((a, b) => b.cosine - a.cosine)
      .slice(0, k),
  );
}

/** y ← unit((y + P·y) / 2) with the whole matrix P written out. */
function diffusedByMatrix(points: readonly number[][], k: number, steps: number): number[][] {
  const nearest = nearestBySorting(points, k);
  const weights = points.map(() => points.map(() => 0));
  for (const [from, own] of nearest.entries())
    for (const { at, cosine } of own) weights[from]![at] = weights[at]![from] = Math.max(0, cosine) ** 2;
  const scaled = weights.map((row) => {
    const total = row.reduce((sum, weight) => sum + weight, 0);
    return row.map((weight) => (total > 0 ? weight / total : 0));
  });
  let state = points.map(unit);
  for (let step = 0; step < steps; step++)
    state = state.map((y, n) =>
      unit(y.map((value, s) => value / 2 + scaled[n]!.reduce((sum, w, m) => sum + w * state[m]![s]!, 0) / 2)),
    );
  return state;
}

describe('the nearest texts', () => {
  test.each([
    [70, 5, 4],
    [9, 3, 8],
  ])('of %i points in %i dimensions, %i each, are those by sorting all cosines', async (count, width, k) => {
    const points = somePoints(count, width, 3);
    const { places, cosines } = await nearestTexts(points, k, alone);
    const wanted = nearestBySorting(rowsOf(points), k).flat();
    expect([...places]).toEqual(wanted.map(({ at }) => at));
    expectClose(
      [...cosines],
      wanted.map(({ cosine }) => cosine),
      1e-6,
    );
  });

  test('of points in several blocks are the same', async () => {
    const points = somePoints(2100, 6, 5);
    const { places } = await nearestTexts(points, 3, alone);
    const wanted = nearestBySorting(rowsOf(points), 3);
    // Blocks have 1024 rows.
    for (const n of [0, 1023, 1024, 2047, 2048, 2099])
      expect([...places.slice(3 * n, 3 * n + 3)], `text ${n}`).toEqual(wanted[n]!.map(({ at }) => at));
  });
});

describe('diffusion', () => {
  test.each([
    [60, 4, 1],
    [60, 4, 12],
    [40, 60, 3], // more neighbours than texts
  ])('of %i points over %i neighbours in %i steps is the matrix written out', async (count, k, steps) => {
    const points = somePoints(count, 7, 11);
    const found = await diffusePoints(points, { neighbours: k, diffusionSteps: steps }, alone);
    const wanted = diffusedByMatrix(rowsOf(points), Math.min(k, count - 1), steps);
    expectClose(found, wanted, 2e-6);
  });

  test('in no step leaves points as they are, and one point alone', async () => {
    const points = somePoints(20, 5, 2);
    const same = await diffusePoints(points, { neighbours: 3, diffusionSteps: 0 }, alone);
    expect(same.toNumbers()).toEqual(points.toNumbers());
    const one = points.narrow(0, 0, 1);
    const left = await diffusePoints(one, { neighbours: 3, diffusionSteps: 5 }, alone);
    expect(left.toNumbers()).toEqual(one.toNumbers());
  });

  test('leaves a point that says nothing finite, and points away from all others', async () => {
    const points = tensor([
      [1, 0],
      [0.9, 0.1],
      [0, 0],
      [-1, 0],
    ]);
    const found = await diffusePoints(points, { neighbours: 2, diffusionSteps: 3 }, alone);
    expect(found.isFinite().all().item()).toBe(1);
    expectClose(found.select(0, 3), [-1, 0], 1e-6);
  });

  test('draws texts of a group together, and keeps no tensor but its own', async () => {
    const points = somePoints(200, 30, 4);
    const spread = (rows: Tensor) =>
      scope(() => rows.matmul(rows.transpose(0, 1)).gt(0.9).to('float32').mean().item());
    const units = unitRows(points);
    const before = liveTensors().tensors;
    const found = await diffusePoints(units, { neighbours: 8, diffusionSteps: 12 }, alone);
    expect(liveTensors().tensors).toBe(before + 1);
    expect(spread(units)).toBeLessThan(0.1);
    expect(spread(found)).toBeGreaterThan(0.2);
  });

  test('an abort ends it, and leaves no tensor behind', async () => {
    const points = somePoints(50, 5, 2);
    const before = liveTensors().tensors;
    const stop = new AbortController();
    stop.abort(new Error('enough'));
    const going = diffusePoints(
      points,
      { neighbours: 3, diffusionSteps: 2 },
      { ...alone, signal: stop.signal },
    );
    await expect(going).rejects.toThrow('enough');
    expect(liveTensors().tensors).toBe(before);
  });
});
