import fs from 'node:fs';
import { grad, setThreads, Tensor, tensor } from '@hidden-schema/torch';
import { expect } from 'vitest';
import { type IsolatedRule, WalkableGraph, WalkDistribution } from '../src/walk/index.ts';

// Tiny tensors gain nothing from threads, which on a busy machine only wait for each other.
setThreads(1);

/** Nested arrays of numbers, as fixtures hold them. */
export type Nested = number | readonly Nested[];

export function readFixture<T>(name: string): T {
  return JSON.parse(fs.readFileSync(new URL(`../../../fixtures/${name}.json`, import.meta.url), 'utf8')) as T;
}

export function f64(data: Nested): Tensor {
  return tensor(data, { dtype: 'float64' });
}

export function transpose(matrix: readonly (readonly number[])[]): number[][] {
  return matrix[0]!.map((_, j) => matrix.map((row) => row[j]!));
}

/** A matrix written as rows of digits: `digits('011 101 110')` is the triangle graph. */
export function digits(rows: string): number[][] {
  return rows.split(' ').map((row) => Array.from(row, Number));
}

export function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0);
}

/** All K^L walks, last node fastest. */
export function allWalks(nodes: number, length: number): number[][] {
  let walks: number[][] = [[]];
  for (let step = 0; step < length; step++)
    walks = walks.flatMap((walk) => Array.from({ length: nodes }, (_, k) => [...walk, k]));
  return walks;
}

/** Walks as node numbers. [walks, L] int64 */
export function walkTensor(walks: readonly (readonly number[])[]): Tensor {
  return Tensor.fromArray(BigInt64Array.from(walks.flat(), BigInt), [walks.length, walks[0]!.length]);
}

/** One transition matrix [from][to] written out: f_k A, or (f_j f_k + c) A when c is given. */
export function writtenOut(
  adjacency: readonly (readonly number[])[],
  f: readonly number[],
  rule: IsolatedRule,
  constant?: number,
): number[][] {
  return adjacency.map((links, j) => {
    const row = links.map((a, k) => a * (constant === undefined ? f[k]! : f[j]! * f[k]! + constant));
    const total = sum(row);
    if (total > 0) return row.map((value) => value / total);
    return row.map((_, k) => (rule === 'uniform' ? 1 / row.length : Number(j === k)));
  });
}

export function walkProbability(
  walk: readonly number[],
  start: readonly number[],
  matrices: readonly (readonly (readonly number[])[])[],
): number {
  return matrices.reduce((p, matrix, i) => p * matrix[walk[i]!]![walk[i + 1]!]!, start[walk[0]!]!);
}

/** KL of two tables of probabilities, with 0 log 0 = 0. */
export function tableKl(p: readonly number[], q: readonly number[]): number {
  return sum(p.map((value, i) => (value > 0 ? value * Math.log(value / q[i]!) : 0)));
}

/** All 0/1 vectors of a length. */
export function allBits(length: number): number[][] {
  return allWalks(2, length);
}

/** Probability of each 0/1 vector under independent links. */
export function linkTable(graphs: readonly number[][], q: readonly number[]): number[] {
  return graphs.map((bits) => bits.reduce((p, bit, e) => p * (bit ? q[e]! : 1 - q[e]!), 1));
}

export function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

/** Log-odds of both signs, none alike. */
export function someLogits(count: number): number[] {
  return Array.from({ length: count }, (_, e) => Math.sin(e * 1.7) * 2 - 0.5);
}

function flatten(values: Tensor | Nested): number[] {
  if (values instanceof Tensor) return values.toNumbers();
  return typeof values === 'number' ? [values] : values.flatMap(flatten);
}

export function largestGap(actual: Tensor | Nested, expected: Tensor | Nested): number {
  const a = flatten(actual);
  const b = flatten(expected);
  expect(a.length, 'number of values').toBe(b.length);
  const gaps = a.map((value, i) => (value === b[i] ? 0 : Math.abs(value - b[i]!)));
  // A NaN on either side must count as a gap, and Math.max keeps it.
  return Math.max(0, ...gaps);
}

export function expectClose(
  actual: Tensor | Nested,
  expected: Tensor | Nested,
  tolerance = 1e-9,
  what = 'value',
): void {
  expect(largestGap(actual, expected), `largest gap of ${what}`).toBeLessThan(tolerance);
}

export function expectFinite(values: Tensor | Nested, what: string): void {
  expect(
    flatten(values).filter((value) => !Number.isFinite(value)),
    `not finite in ${what}`,
  ).toEqual([]);
}

/** Gradient of a scalar with respect to one tensor, its computation kept for more. */
export function gradientOf(scalar: Tensor, input: Tensor): Tensor {
  const [gradient] = grad([scalar], [input], { retainGraph: true });
  if (!gradient) throw new Error('the value does not depend on the input');
  return gradient;
}

/** What the tests read of a file in fixtures/walks; matrices there are [to][from]. */
export interface WalkFixture {
  readonly K: number;
  readonly L: number;
  readonly A: number[][];
  readonly zero_column_policy: 'stay' | 'uniform' | 'undefined';
  readonly prior: { readonly rho: number[]; readonly f: number[][]; readonly P: Nested };
  readonly posterior_q: {
    readonly h: number[][][] | null;
    readonly rho: number[][];
    readonly f: number[][][];
  };
  readonly log_likelihood: number[][];
  readonly expected: {
    readonly prior_walk_prob: number[];
    readonly q_walk_prob: number[][];
    readonly prior_marginals: number[][];
    readonly q_marginals: number[][][];
    readonly kl_q_prior: number[];
    readonly expected_log_likelihood: number[];
    readonly elbo: number[];
    readonly aggregate: {
      readonly mean_kl: number;
      readonly kl_true_mixture: number;
      readonly kl_markov_projection: number;
      readonly kl_paper_mean_matrices: number;
      readonly kl_paper_terms: number[];
      readonly kl_projection_terms: number[];
      readonly mutual_information_exact: number;
      readonly mutual_information_with_projection: number;
      readonly mutual_information_with_paper_approximation: number;
    };
    readonly gradients_wrt_h: {
      readonly kl_q_prior_sample0: number[][];
      readonly elbo_sample0: number[][];
      readonly kl_paper_mean_matrices: number[][][];
      readonly kl_true_mixture: number[][][];
    } | null;
  };
}

export const walkFixtures = [
  'A_K4_L3',
  'B_K5_L4_isolated_stay',
  'B_K5_L4_isolated_uniform',
  'B_K5_L4_isolated_unreachable',
  'C_K6_L4_directed_selfloops',
] as const;

/** Stands in for log 0: far below anything that exp() can tell from zero. */
const logOfNothing = -1e9;

function scoresOf(rho: readonly number[], f: readonly (readonly number[])[]): number[][] {
  return [rho, ...f].map((row) => row.map((value) => (value === 0 ? logOfNothing : Math.log(value))));
}

export interface WalkModel {
  readonly fixture: WalkFixture;
  readonly prior: WalkDistribution;
  readonly posterior: WalkDistribution;
  /** h, a leaf that takes gradients. [N, L, K] */
  readonly scores: Tensor;
  /** The posterior of one sentence, for tables over all walks. */
  one(sentence: number): WalkDistribution;
}

export function walkModel(name: (typeof walkFixtures)[number]): WalkModel {
  const fixture = readFixture<WalkFixture>(`walks/${name}`);
  const { h, rho, f } = fixture.posterior_q;
  const rule = fixture.zero_column_policy === 'uniform' ? 'uniform' : 'stay';
  const graph = new WalkableGraph(f64(transpose(fixture.A)), rule);
  const scores = f64(h ?? rho.map((start, n) => scoresOf(start, f[n]!))).requireGrad();
  return {
    fixture,
    scores,
    prior: WalkDistribution.fromScores(graph, f64([scoresOf(fixture.prior.rho, fixture.prior.f)])),
    posterior: WalkDistribution.fromScores(graph, scores),
    one: (sentence) => WalkDistribution.fromScores(graph, scores.narrow(0, sentence, 1)),
  };
}
