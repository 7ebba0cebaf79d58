// Walks and graphs few enough to list them all.
import { type IsolatedRule, WalkableGraph, WalkDistribution } from '@hidden-schema/hsn';
import { Tensor } from '@hidden-schema/torch';
import { f64, type Nested, readFixture, sum, transpose } from './closeness.ts';

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
