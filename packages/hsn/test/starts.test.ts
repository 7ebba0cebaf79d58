import { Random } from '@hidden-schema/base';
import { expectClose, f64 } from '@hidden-schema/testing/closeness';
import { finiteDifferences } from '@hidden-schema/testing/finite-differences';
import { arange, Generator, randn, scope, Tensor, tensor } from '@hidden-schema/torch';
import { describe, expect, test } from 'vitest';
import { mostAligned } from '../src/clusters.ts';
import { unitRows } from '../src/discovery/dictionary.ts';
import { fitStarts, likelihoodGradient } from '../src/discovery/spherical-means.ts';

const places = (numbers: readonly number[]) =>
  Tensor.fromArray(BigInt64Array.from(numbers, BigInt), [numbers.length]);

describe('directions that texts are given to symbols by', () => {
  test('climb the likelihood of a softmax over cosines, by finite differences', () => {
    const [N, K, S] = [30, 4, 5];
    const random = new Random(2);
    const given = Array.from({ length: N }, () => random.int(K));
    const points = unitRows(randn([N, S], new Generator(1), { dtype: 'float64' }));
    const directions = unitRows(randn([K, S], new Generator(2), { dtype: 'float64' }));
    // Cosines count thirty nats; the gradient is that of nats.
    const logLikelihood = (d: Tensor) =>
      points
        .matmul(d.transpose(0, 1))
        .mul(30)
        .logSoftmax(1)
        .gather(1, places(given).unsqueeze(1))
        .sum()
        .div(30);
    const members = f64(given.map((symbol) => Array.from({ length: K }, (_, k) => Number(k === symbol))));
    expectClose(
      likelihoodGradient(points, members, directions),
      finiteDifferences(logLikelihood, directions, 1e-6),
      1e-6,
    );
  });

  test('sums over blocks are the sums over all', () => {
    const [N, K, S] = [9000, 3, 4]; // three blocks
    const points = unitRows(randn([N, S], new Generator(3)));
    const directions = unitRows(randn([K, S], new Generator(4)));
    const members = points.narrow(1, 0, K).argmax(1).oneHot(K).to('float32');
    const chances = points.matmul(directions.transpose(0, 1)).mul(30).softmax(1);
    const whole = members.sub(chances).transpose(0, 1).matmul(points);
    expectClose(likelihoodGradient(points, members, directions), whole, 1e-2);
  });

  test('read groups that mean directions confuse, of new points too', () => {
    // All groups share the first axis; the second and third are wide, and the others tell groups apart.
    const random = new Random(7);
    const normal = () => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
    const [K, S, N] = [6, 10, 1200];
    const draw = () => {
      const given = Array.from({ length: N }, () => random.int(K));
      const rows = given.map((symbol) =>
        Array.from({ length: S }, (_, s) => {
          if (s === 0) return 1;
          if (s < 3) return 0.8 * normal() + (symbol % 2 === 0 ? 0.5 : -0.5);
          return 0.08 * normal() + (s - 3 === symbol ? 0.4 : 0);
        }),
      );
      return { given, points: unitRows(tensor(rows)) };
    };
    const [old, fresh] = [draw(), draw()];
    const means = scope(() => {
      const members = places(old.given).oneHot(K).to('float32');
      return unitRows(members.transpose(0, 1).matmul(old.points));
    });
    const starts = fitStarts(old.points, places(old.given), means);
    const right = (directions: Tensor, { given, points }: typeof old) =>
      mostAligned(points, directions)
        .toNumbers()
        .filter((symbol, n) => symbol === given[n]).length / N;
    expectClose(starts.mul(starts).sum(1), Array(K).fill(1), 1e-5);
    expect(right(means, fresh)).toBeLessThan(0.9);
    expect(right(starts, old)).toBeGreaterThan(0.95);
    expect(right(starts, fresh)).toBeGreaterThan(0.95);
  });

  test('of a symbol without texts stay finite', () => {
    const points = unitRows(randn([20, 3], new Generator(1)));
    const symbols = unitRows(randn([4, 3], new Generator(2)));
    const starts = fitStarts(points, arange(20).mul(0), symbols);
    expect(starts.isFinite().all().item()).toBe(1);
  });
});
