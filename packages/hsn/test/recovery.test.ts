import fs from 'node:fs';
import { Random } from '@hidden-schema/base';
import { graphStatistics } from '@hidden-schema/studies';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Adjacency, edgeCount, emptyGraph, randomGraph } from '../src/tasks/synthetic/corpus/graphs.ts';
import {
  averagePrecision,
  corpusGraphModel,
  guessGraphModel,
  recovery,
  rocAuc,
} from '../src/tasks/synthetic/recovery.ts';

const fixture = (name: string) =>
  JSON.parse(fs.readFileSync(new URL(`../../../fixtures/metrics/${name}.json`, import.meta.url), 'utf8'));

interface RankingCase {
  name: string;
  y: number[];
  scores: number[];
  roc_auc: number | null;
  average_precision?: number;
}
interface GraphCase {
  K: number;
  ground_truth_A: number[][];
  link_prob: number[][];
  roc_auc_upper_triangle: number;
  roc_auc_all_entries_with_zero_diagonal: number;
  frobenius_A_minus_prob: number;
  edges_upper_triangle: number;
}
interface NetworkxCase {
  n_edges_networkx: number;
  n_self_loops: number;
  n_components: number;
  component_sizes: number[];
  largest_component_nodes: number[];
  diameter_largest_component: number;
  average_distance_largest_component: number;
  diameter_over_reachable_pairs: number;
  average_distance_over_reachable_pairs: number | null;
  average_clustering: number;
  transitivity: number;
  degree_without_self_loops: number[];
}
const ranking: { cases: RankingCase[]; graph_case: GraphCase } = fixture('roc_auc');
const statistics: {
  graphs: { name: string; n: number; edges: [number, number][]; expected: NetworkxCase }[];
} = fixture('graph_stats');

describe('ranking', () => {
  test.each(ranking.cases)('scikit-learn: $name', ({ scores, y, roc_auc, average_precision }) => {
    const auc = rocAuc(scores, y);
    if (roc_auc === null) expect(auc).toBeNull();
    else expect(auc).toBeCloseTo(roc_auc, 10);
    if (average_precision !== undefined)
      expect(averagePrecision(scores, y)).toBeCloseTo(average_precision, 10);
  });

  test('AUC is the share of pairs in order, ties one half', () => {
    const items = fc.array(fc.tuple(fc.integer({ min: 0, max: 6 }), fc.boolean()), {
      minLength: 2,
      maxLength: 40,
    });
    fc.assert(
      fc.property(items, (list) => {
        let [won, pairs] = [0, 0];
        for (const [a, positive] of list) {
          for (const [b, other] of list) {
            if (!positive || other) continue;
            pairs++;
            won += a > b ? 1 : a === b ? 0.5 : 0;
          }
        }
        const auc = rocAuc(
          list.map(([score]) => score),
          list.map(([, label]) => Number(label)),
        );
        if (pairs === 0) expect(auc).toBeNull();
        else expect(auc).toBeCloseTo(won / pairs, 12);
      }),
    );
  });

  test('infinite scores rank, NaN and unequal lengths are refused, no positives have no precision', () => {
    expect(rocAuc([Number.NEGATIVE_INFINITY, 0, Number.POSITIVE_INFINITY], [0, 1, 1])).toBe(1);
    expect(() => rocAuc([0, Number.NaN], [0, 1])).toThrow('score 1 is NaN');
    expect(() => averagePrecision([0], [0, 1])).toThrow('got 2 labels and 1 scores');
    expect(averagePrecision([0.1, 0.2], [0, 0])).toBeNull();
  });
});

describe('recovery', () => {
  const { K, ground_truth_A, link_prob, ...expected } = ranking.graph_case;
  const truth: Adjacency = { nodes: K, data: Uint8Array.from(ground_truth_A.flat()) };
  const links = Float64Array.from(link_prob.flat());

  test('scikit-learn and numpy on the graph case', () => {
    const result = recovery(links, truth, { random: new Random(1), samples: 1 });
    expect(result.auc).toBeCloseTo(expected.roc_auc_upper_triangle, 10);
    expect(rocAuc(links, truth.data)).toBeCloseTo(expected.roc_auc_all_entries_with_zero_diagonal, 10);
    // The fixture's norm is over the whole matrix, which holds each pair twice.
    expect(result.frobenius_truth * Math.SQRT2).toBeCloseTo(expected.frobenius_A_minus_prob, 10);
    expect(result.edges_truth).toBe(expected.edges_upper_triangle);
  });

  test('sampled figures have the expectation that the probabilities give', () => {
    const samples = 4000;
    const result = recovery(links, truth, { random: new Random(2), samples });
    let [edges, variance, differing] = [0, 0, 0];
    for (let i = 0; i < K; i++) {
      for (let j = i + 1; j < K; j++) {
        const p = links[i * K + j]!;
        edges += p;
        variance += p * (1 - p);
        differing += truth.data[i * K + j] ? 1 - p : p;
      }
    }
    expect(result.edges_expected).toBeCloseTo(edges, 10);
    expect(Math.abs(result.edges_sampled - edges)).toBeLessThan(5 * Math.sqrt(variance / samples));
    // E[√X] lies below √E[X] by about Var X / (8 E[X]^1.5).
    const mean = Math.sqrt(differing) - variance / (8 * differing ** 1.5);
    expect(Math.abs(result.frobenius_truth_sampled - mean)).toBeLessThan(0.02);
  });

  test('an exact answer has distance 0 to the truth, and not to a fresh graph of the same model', () => {
    const { adjacency, model } = randomGraph('barabasi', 100, {}, new Random(9));
    const result = recovery(Float64Array.from(adjacency.data), adjacency, {
      random: new Random(3),
      samples: 5,
      model,
    });
    expect(result).toMatchObject({
      auc: 1,
      average_precision: 1,
      frobenius_truth: 0,
      frobenius_truth_sampled: 0,
    });
    expect(result).toMatchObject({ edges_sampled: 291, edges_expected: 291, edges_truth: 291 });
    // Two sparse graphs of 291 edges share few: close to √582 = 24.1.
    expect(result.frobenius_random).toBeGreaterThan(20);
    expect(result.frobenius_random).toBeLessThan(Math.sqrt(582));
    expect(result.frobenius_random_sampled).toBe(result.frobenius_random);
  });

  test('a truth with one class has no AUC; bad arguments are refused', () => {
    const options = { random: new Random(1), samples: 1, model: { kind: 'erdos', options: {} } } as const;
    expect(recovery(new Float64Array(9), emptyGraph(3), options)).toMatchObject({
      auc: null,
      average_precision: null,
    });
    expect(() => recovery(new Float64Array(4), emptyGraph(3), options)).toThrow(
      'expected 9 link probabilities, got 4',
    );
    expect(() => recovery(new Float64Array(9).fill(Number.NaN), emptyGraph(3), options)).toThrow(
      'from 0 to 1, got NaN',
    );
    expect(() => recovery(new Float64Array(9), emptyGraph(3), { ...options, samples: 0 })).toThrow(
      'samples must be',
    );
  });

  test('the model of a graph: from its record, else guessed', () => {
    const draw = (kind: 'barabasi' | 'erdos' | 'watts') =>
      randomGraph(kind, 100, {}, new Random(4)).adjacency;
    expect(guessGraphModel(draw('barabasi'))).toEqual({ kind: 'barabasi', options: { attach: 3 } });
    const erdos = draw('erdos');
    expect(guessGraphModel(erdos)).toEqual({
      kind: 'erdos',
      options: { probability: edgeCount(erdos) / 4950 },
    });
    expect(guessGraphModel(draw('watts')).kind).toBe('erdos');
    const settings = { graph: 'watts', graphOptions: { neighbours: 4, rewire: 0.3 } };
    const generator = { settings } as never;
    expect(corpusGraphModel({ truth: erdos, generator })).toEqual({
      kind: 'watts',
      options: { neighbours: 4, rewire: 0.3 },
    });
    expect(corpusGraphModel({})).toBeUndefined();
  });
});

describe('graph statistics', () => {
  test.each(statistics.graphs)('networkx: $name', ({ n, edges, expected }) => {
    const graph = emptyGraph(n);
    for (const [i, j] of edges) {
      graph.data[i * n + j] = 1;
      graph.data[j * n + i] = 1;
    }
    const found = graphStatistics(graph);
    expect(found.edges).toBe(expected.n_edges_networkx);
    expect(found.selfLoops).toBe(expected.n_self_loops);
    expect(found.components).toBe(expected.n_components);
    expect(found.componentSizes).toEqual(expected.component_sizes);
    expect(found.largestComponent).toEqual(expected.largest_component_nodes);
    expect(found.diameter).toBe(expected.diameter_largest_component);
    expect(found.averageDistance).toBeCloseTo(expected.average_distance_largest_component, 10);
    expect(found.diameterReachable).toBe(expected.diameter_over_reachable_pairs);
    const reachable = expected.average_distance_over_reachable_pairs;
    if (reachable !== null) expect(found.averageDistanceReachable).toBeCloseTo(reachable, 10);
    else expect(found.averageDistanceReachable).toBeNull();
    expect(found.clustering).toBeCloseTo(expected.average_clustering, 10);
    expect(found.transitivity).toBeCloseTo(expected.transitivity, 10);
    expect([...found.degree]).toEqual(expected.degree_without_self_loops);
  });
});
