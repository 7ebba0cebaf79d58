import { digits, expectClose, expectFinite, f64, gradientOf, sum } from '@hidden-schema/testing/closeness';
import {
  allWalks,
  tableKl,
  walkProbability,
  walkTensor,
  writtenOut,
} from '@hidden-schema/testing/enumeration';
import { Generator, tensor } from '@hidden-schema/torch';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aggregatedKl } from '../src/walk/aggregate.ts';
import { WalkDistribution } from '../src/walk/chain.ts';
import { MeanFieldWalks } from '../src/walk/mean-field.ts';
import { WalkPrior } from '../src/walk/processes.ts';
import { type IsolatedRule, WalkableGraph } from '../src/walk/walkable-graph.ts';

const K = 4;
const L = 3;
const scores = [
  [
    [0.3, -1, 2, 0.1],
    [1, 1.5, -0.4, 0],
    [0, 2, -2, 0.7],
  ],
  [
    [-0.5, 0.2, 0.9, 1.1],
    [0.1, -0.3, 0.8, 1.4],
    [1.2, 0.4, 0, -1],
  ],
  [
    [2, 0.1, -1, 0.5],
    [0, 0.6, 1, -0.2],
    [-0.7, 0.3, 0.2, 2.2],
  ],
];
const walks = allWalks(K, L);
const softmax = (row: readonly number[]) => row.map(Math.exp).map((value, _, all) => value / sum(all));
const walkTable = (h: readonly (readonly number[])[]) =>
  walks.map((walk) => walk.reduce((p, k, i) => p * softmax(h[i]!)[k]!, 1));

/** A prior's table over walks, its missing links at the floor that the mean field uses. */
function priorTable(adjacency: number[][], rule: IsolatedRule, floor: number): number[] {
  const matrix = writtenOut(
    adjacency,
    adjacency.map(() => 1),
    rule,
  ).map((row) => row.map((p) => Math.max(p, floor)));
  return walks.map((walk) =>
    walkProbability(
      walk,
      adjacency.map(() => 1 / K),
      [matrix, matrix],
    ),
  );
}

const complete = Array.from({ length: K }, () => Array.from({ length: K }, () => 1));
const isolated = digits('0110 1010 1100 0000');
const uniform = (graph: WalkableGraph) =>
  new WalkPrior('uniform', { nodes: K, length: L }, new Generator(0), { dtype: 'float64' }).on(graph);

describe('mean field over walks', () => {
  test('log-probability of every walk, and marginals', () => {
    for (const [n, h] of scores.entries()) {
      const q = new MeanFieldWalks(f64([h]));
      const logs = new MeanFieldWalks(f64(walks.map(() => scores[n]!))).logProb(walkTensor(walks));
      expectClose(logs.exp(), walkTable(h), 1e-12);
      for (const [i, marginal] of q.marginals().entries()) expectClose(marginal, softmax(h[i]!), 1e-12);
    }
  });

  test.each([
    ['complete', complete, 'uniform'],
    ['isolated node, uniform', isolated, 'uniform'],
    ['isolated node, stay', isolated, 'stay'],
  ] as const)('divergence from the prior equals enumeration: %s', (_, adjacency, rule) => {
    const q = new MeanFieldWalks(f64(scores));
    const prior = uniform(new WalkableGraph(f64(adjacency), rule));
    const table = priorTable(adjacency as number[][], rule, 1e-8);
    expectClose(
      q.kl(prior),
      scores.map((h) => tableKl(walkTable(h), table)),
      1e-10,
    );
  });

  test('with a prior that was trained, step by step', () => {
    const logF = [
      [0.5, -1, 0.2, 1.1],
      [-0.3, 0.8, 1.4, 0.1],
    ];
    const start = softmax([0.1, 0.9, -0.5, 0.3]);
    for (const [adjacency, rule] of [
      [complete, 'uniform'],
      [isolated, 'uniform'],
      [isolated, 'stay'],
    ] as const) {
      const graph = new WalkableGraph(f64(adjacency), rule);
      const prior = WalkDistribution.fromScores(graph, f64([[start.map(Math.log), ...logF]]));
      // The floor is that of the row-scaled link, before f and its sum.
      const matrices = logF.map((log) => {
        const f = log.map(Math.exp);
        const exact = writtenOut(adjacency, f, rule);
        return exact.map((row, j) => {
          const scale = sum(adjacency[j]!.map((a, k) => a * f[k]!)) / sum(adjacency[j]!);
          return row.map((p, k) => (p > 0 ? p : sum(adjacency[j]!) > 0 ? (1e-8 * f[k]!) / scale : 1e-8));
        });
      });
      const table = walks.map((walk) => walkProbability(walk, start, matrices));
      const wanted = scores.map((h) => tableKl(walkTable(h), table));
      expectClose(new MeanFieldWalks(f64(scores)).kl(prior), wanted, 1e-10);
    }
  });

  test('is the walk posterior of the complete graph with self-loops (Eq. 33)', () => {
    const graph = new WalkableGraph(f64(complete));
    const q = new MeanFieldWalks(f64(scores));
    const chain = WalkDistribution.fromScores(graph, f64(scores));
    const some = walkTensor([
      [0, 1, 2],
      [3, 3, 3],
      [2, 0, 1],
    ]);
    expectClose(q.logProb(some), chain.logProb(some), 1e-12);
    expectClose(q.kl(uniform(graph)), chain.kl(uniform(graph)), 1e-12);
    for (const [i, marginal] of q.marginals().entries()) expectClose(marginal, chain.marginals()[i]!, 1e-12);
    for (const how of ['mean', 'projection'] as const) {
      const ours = q.aggregatedKl(uniform(graph), how);
      const chained = aggregatedKl(chain, uniform(graph), how);
      expectClose(ours.start, chained.start, 1e-12);
      expectClose(ours.steps, chained.steps, 1e-12);
    }
  });

  test('aggregated by projection: never above the mixture', () => {
    const entry = fc.double({ min: -5, max: 5, noNaN: true, noDefaultInfinity: true });
    const row = fc.array(entry, { minLength: K, maxLength: K });
    const sentence = fc.array(row, { minLength: L, maxLength: L });
    const prior = uniform(new WalkableGraph(f64(complete)));
    const table = priorTable(complete, 'uniform', 0);
    fc.assert(
      fc.property(fc.array(sentence, { minLength: 1, maxLength: 3 }), (batch) => {
        const tables = batch.map(walkTable);
        const mixture = walks.map((_, i) => sum(tables.map((t) => t[i]!)) / tables.length);
        const kl = new MeanFieldWalks(f64(batch)).aggregatedKl(prior, 'projection');
        const value = kl.start.add(kl.steps).item();
        expect(value).toBeLessThanOrEqual(tableKl(mixture, table) + 1e-10);
        expect(value).toBeGreaterThan(-1e-10);
      }),
    );
  });

  test('samples follow the marginals', () => {
    const draws = 4000;
    const q = new MeanFieldWalks(f64([scores[0]!]).expand(draws, L, K));
    const nodes = q.sampleNodes(new Generator(1)).toNumbers();
    for (let i = 0; i < L; i++) {
      const shares = complete.map(
        (_, k) => nodes.filter((node, at) => at % L === i && node === k).length / draws,
      );
      expectClose(shares, softmax(scores[0]![i]!), 0.04);
    }
  });

  test('extreme scores and graphs without links stay finite', () => {
    const wild = [
      [
        [1e4, -1e4, 0, 0],
        [1e4, 1e4, -1e4, 0],
        [-1e4, -1e4, -1e4, 1e4],
      ],
    ];
    for (const dtype of ['float32', 'float64'] as const) {
      const h = tensor(wild, { dtype }).requireGrad();
      const links = tensor(
        complete.map((row) => row.map(() => 0)),
        { dtype },
      );
      const prior = new WalkPrior('uniform', { nodes: K, length: L }, new Generator(0), { dtype }).on(
        new WalkableGraph(links),
      );
      const q = new MeanFieldWalks(h);
      for (const how of ['mean', 'projection'] as const) {
        const kl = q.aggregatedKl(prior, how);
        const value = q.kl(prior).sum().add(kl.start).add(kl.steps);
        expectFinite(value, `${dtype} ${how}`);
        expectFinite(gradientOf(value, h), `gradient, ${dtype} ${how}`);
      }
    }
  });
});
