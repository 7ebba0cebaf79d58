// Trees of symbols against all assignments of symbols to their nodes.
import { expectClose, sum } from '@hidden-schema/testing/closeness';
import { allWalks, walkTensor } from '@hidden-schema/testing/enumeration';
import { Generator, type Tensor, tensor } from '@hidden-schema/torch';
import { describe, expect, test } from 'vitest';
import { syntheticOptions } from '../src/config/network.ts';
import { schemaProcesses } from '../src/walk/processes.ts';
import { WalkableGraph } from '../src/walk/walkable-graph.ts';

const float64 = { dtype: 'float64' } as const;
const [K, L] = [3, 5];
const parents = [0, 0, 1, 1];
const A = [
  [0, 1, 0.4],
  [1, 0, 1],
  [0.4, 1, 0.2],
];
const h = [
  [0.3, -1, 0.6],
  [1, 0.5, -0.4],
  [0, 1.2, -0.8],
  [-0.7, 0.3, 0.2],
  [0.9, -0.2, 0.4],
];
const other = h.map((row, i) => row.map((x, k) => 0.5 * x - 0.3 * k + 0.2 * i));
const softmax = (row: readonly number[]) => row.map((x) => Math.exp(x) / sum(row.map(Math.exp)));
/** q(z_i = k | parent at j) by hand (Eq. 6). */
const step = (scores: readonly number[], j: number, k: number) =>
  (A[j]![k]! * Math.exp(scores[k]!)) / sum(A[j]!.map((a, m) => a * Math.exp(scores[m]!)));
const probability = (scores: readonly (readonly number[])[], tree: readonly number[]) =>
  parents.reduce(
    (p, parent, i) => p * step(scores[i + 1]!, tree[parent]!, tree[i + 1]!),
    softmax(scores[0]!)[tree[0]!]!,
  );

const walk = syntheticOptions.parse({ walk: { prior: 'inhomogeneous', process: 'tree' } }).walk;
const process = schemaProcesses.tree({
  ...{ settings: walk, logZero: 'floor', nodes: K, length: L, generator: new Generator(1), options: float64 },
});
const graph = new WalkableGraph(tensor(A, float64));
const posterior = process.posterior(tensor([h, other], float64), graph);
const prior = process.prior.on(graph);
const trees = allWalks(K, L);
const table = (scores: typeof h) => trees.map((tree) => probability(scores, tree));
const [q, q2] = [table(h), table(other)];

describe('a tree of symbols', () => {
  test('has the probability of its root and branches, and all sum to 1', () => {
    expect(trees).toHaveLength(K ** L);
    const logs = posterior.crossLogProb(walkTensor(trees)).exp(); // [2, trees]
    expectClose(logs, [...q, ...q2], 1e-12);
    expectClose(sum(q), 1, 1e-12);
    const two = [trees[7]!, trees[100]!];
    expectClose(posterior.logProb(walkTensor(two)), [Math.log(q[7]!), Math.log(q2[100]!)], 1e-12);
  });

  test('has the marginals of all trees', () => {
    for (const [i, marginal] of posterior.marginals().entries()) {
      const wanted = [q, q2].flatMap((p) =>
        [0, 1, 2].map((k) => sum(trees.map((tree, n) => (tree[i] === k ? p[n]! : 0)))),
      );
      expectClose(marginal, wanted, 1e-12);
    }
  });

  test('has the divergence of all trees, of a sentence and of a batch of one', () => {
    const p = prior.crossLogProb(walkTensor(trees)).exp().toNumbers();
    expectClose(sum(p), 1, 1e-12);
    const kl = (of: readonly number[]) =>
      sum(of.map((x, n) => x * Math.log(x / p[n]!)).filter(Number.isFinite));
    expectClose(posterior.kl(prior), [kl(q), kl(q2)], 1e-10);
    const alone = process.posterior(tensor([h], float64), graph);
    for (const how of ['mean', 'projection'] as const) {
      const { start, steps } = alone.aggregatedKl(prior, how);
      expectClose(start.add(steps), kl(q), 1e-9);
    }
  });

  test('the best is the best of all', () => {
    for (const [n, all] of [q, q2].entries()) {
      const { walk: best, probabilities } = posterior.best()[n]!;
      const place = all.indexOf(Math.max(...all));
      expect(best).toEqual(trees[place]);
      expectClose(
        probabilities.reduce((a, b) => a * b),
        all[place]!,
        1e-12,
      );
    }
  });

  test('samples have the probabilities', () => {
    const draws = 4000;
    const many = process.posterior(
      tensor(
        Array.from({ length: draws }, () => h),
        float64,
      ),
      graph,
    );
    const nodes = many.sampleNodes(new Generator(3)) as Tensor;
    const counts = new Map<string, number>();
    for (let n = 0; n < draws; n++) {
      const key = nodes.select(0, n).toNumbers().join();
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    const off = trees.map((tree, n) => Math.abs((counts.get(tree.join()) ?? 0) / draws - q[n]!));
    expect(Math.max(...off)).toBeLessThan(0.02);
  });

  test('refuses what it does not have', () => {
    const parts = {
      logZero: 'floor',
      nodes: K,
      length: L,
      generator: new Generator(1),
      options: {},
    } as const;
    expect(() => schemaProcesses.tree({ settings: { ...walk, posterior: 'mean-field' }, ...parts })).toThrow(
      'walk.posterior: graph',
    );
    expect(() => schemaProcesses.tree({ settings: { ...walk, stays: true }, ...parts })).toThrow(
      'walk.stays: false',
    );
  });
});
