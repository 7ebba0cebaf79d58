import { digits, expectClose, f64, sum } from '@hidden-schema/testing/closeness';
import {
  allWalks,
  walkFixtures,
  walkModel,
  walkProbability,
  walkTensor,
  writtenOut,
} from '@hidden-schema/testing/enumeration';
import { Generator, scope, stack, type Tensor } from '@hidden-schema/torch';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exactInformation } from '../src/tasks/language/information.ts';
import { mutualInformation } from '../src/walk/aggregate.ts';
import { WalkDistribution } from '../src/walk/chain.ts';
import { MeanFieldWalks } from '../src/walk/mean-field.ts';
import type { WalkPosterior } from '../src/walk/posterior.ts';
import type { TransitionForm } from '../src/walk/transition.ts';
import { type IsolatedRule, WalkableGraph } from '../src/walk/walkable-graph.ts';

// N sentences, K symbols, L steps.
const N = 3;
const L = 3;

const entry = fc.double({ min: -3, max: 3, noNaN: true, noDefaultInfinity: true });
const table = (rows: number, columns: number, element: fc.Arbitrary<number>) =>
  fc.array(fc.array(element, { minLength: columns, maxLength: columns }), {
    minLength: rows,
    maxLength: rows,
  });
/** Hard and soft links, loops, and often nodes without any. */
const graphs = (nodes: number) =>
  table(nodes, nodes, fc.constantFrom(0, 0, 1, 0.3)).chain((links) =>
    fc
      .subarray([...links.keys()])
      .map((isolated) => links.map((row, j) => (isolated.includes(j) ? row.map(() => 0) : row))),
  );
const scoresOf = (nodes: number) => fc.array(table(L, nodes, entry), { minLength: N, maxLength: N });

const forms: readonly TransitionForm[] = [
  { kind: 'paper', constant: 0 },
  { kind: 'paper', constant: 0, range: 1.5 },
  { kind: 'symmetric', constant: 0 },
  { kind: 'symmetric', constant: 1 },
  { kind: 'symmetric', constant: 1, range: 1.5 },
];
const rules: readonly IsolatedRule[] = ['uniform', 'stay'];

/** f of a step by hand: exp of the scores, bent into the range where there is one. */
function nodeWeights(h: readonly number[], { constant, range }: TransitionForm): number[] {
  const top = constant === 0 ? Math.max(...h) : 0;
  return h.map((value) => Math.exp(range ? range * Math.tanh((value - top) / range) : value - top));
}

function softmax(h: readonly number[]): number[] {
  const e = h.map(Math.exp);
  return e.map((value) => value / sum(e));
}

/** The walk's own log-probability, one sentence of a posterior at a time. [N][walks] */
function oneByOne(of: (scores: Tensor) => WalkPosterior, scores: Tensor, walks: Tensor): Tensor {
  const rows = scores.unbind(0).map((h) => {
    const repeated = h.unsqueeze(0).expand(walks.dim(0), -1, -1);
    return of(repeated).logProb(walks);
  });
  return stack(rows);
}

describe('every walk under every sentence', () => {
  test.each(forms.flatMap((form) => rules.map((rule) => ({ form, rule }))))(
    'on a graph, $form.kind c = $form.constant range $form.range, isolated $rule',
    ({ form, rule }) => {
      const cases = fc
        .integer({ min: 2, max: 4 })
        .chain((K) => fc.record({ A: graphs(K), h: scoresOf(K), K: fc.constant(K) }));
      const check = ({ A, h, K }: { A: number[][]; h: number[][][]; K: number }) =>
        scope(() => {
          const graph = new WalkableGraph(f64(A), rule);
          const scores = f64(h);
          const walks = allWalks(K, L);
          const nodes = walkTensor(walks);
          const cross = WalkDistribution.fromScores(graph, scores, form).crossLogProb(nodes);
          const of = (x: Tensor) => WalkDistribution.fromScores(graph, x, form);
          expectClose(cross, oneByOne(of, scores, nodes), 1e-12, 'logProb of one sentence');
          const constant = form.kind === 'paper' ? undefined : form.constant;
          const byHand = h.map(([first, ...rest]) => {
            const matrices = rest.map((row) => writtenOut(A, nodeWeights(row, form), rule, constant));
            return walks.map((walk) => walkProbability(walk, softmax(first!), matrices));
          });
          expectClose(cross.exp(), byHand, 1e-9, 'written out');
        });
      fc.assert(fc.property(cases, check), { numRuns: 15, seed: 4 });
    },
  );

  test('without a graph', () => {
    const check = (h: number[][][]) =>
      scope(() => {
        const walks = allWalks(4, L);
        const scores = f64(h);
        const cross = new MeanFieldWalks(scores).crossLogProb(walkTensor(walks));
        expectClose(
          cross,
          oneByOne((x) => new MeanFieldWalks(x), scores, walkTensor(walks)),
          1e-12,
        );
        const byHand = h.map((rows) => walks.map((walk) => logProduct(rows, walk)));
        expectClose(cross, byHand, 1e-9, 'written out');
      });
    fc.assert(fc.property(scoresOf(4), check), { numRuns: 15, seed: 5 });
  });

  test('walks more or fewer than sentences', () => {
    const { posterior } = walkModel('A_K4_L3');
    const all = posterior.crossLogProb(walkTensor(allWalks(4, 3)));
    const one = posterior.crossLogProb(walkTensor([[0, 1, 2]]));
    const sentences = posterior.logStart.dim(0);
    expect([all.shape, one.shape]).toEqual([
      [sentences, 64],
      [sentences, 1],
    ]);
    expectClose(one.squeeze(1), all.select(1, 0 * 16 + 1 * 4 + 2));
  });
});

function logProduct(rows: readonly (readonly number[])[], walk: readonly number[]): number {
  return sum(rows.map((row, i) => Math.log(softmax(row)[walk[i]!]!)));
}

/** Mean and standard error of the estimate over draws of its walks. */
function estimates(posterior: WalkPosterior, draws: number): { mean: number; error: number; most: number } {
  const generator = new Generator(6);
  const values = Array.from({ length: draws }, () =>
    scope(() => exactInformation(posterior, posterior.sampleNodes(generator))),
  );
  const mean = sum(values) / draws;
  const variance = sum(values.map((value) => (value - mean) ** 2)) / (draws - 1);
  return { mean, error: Math.sqrt(variance / draws), most: Math.max(...values) };
}

/** Σ_n Σ_z q_n(z)/N log(q_n(z)/q̄(z)) over a table [sentences][walks]. */
function enumerated(q: readonly (readonly number[])[]): number {
  const mixture = q[0]!.map((_, z) => sum(q.map((row) => row[z]!)) / q.length);
  return sum(q.map((row) => sum(row.map((p, z) => (p > 0 ? p * Math.log(p / mixture[z]!) : 0))))) / q.length;
}

describe('information of the empirical sample', () => {
  test.each(walkFixtures)('has the mean that enumeration gives on %s', (name) => {
    const { fixture, posterior } = walkModel(name);
    const { q_walk_prob, aggregate } = fixture.expected;
    expect(enumerated(q_walk_prob)).toBeCloseTo(aggregate.mutual_information_exact, 9);
    const { mean, error, most } = estimates(posterior, 400);
    expect(error).toBeLessThan(0.05);
    expect(Math.abs(mean - aggregate.mutual_information_exact)).toBeLessThan(4 * error);
    expect(most).toBeLessThanOrEqual(Math.log(q_walk_prob.length) + 1e-9);
  });

  test('has the mean that enumeration gives without a graph', () => {
    const scores = f64([
      [[1, -1, 0], [2, 0, 0], [0, 0, 1]], // biome-ignore format: one sentence a line
      [[-1, 2, 0], [0, 0, 2], [1, 0, 0]], // biome-ignore format: one sentence a line
      [[0, 0, 3], [0, 1, 0], [0, 3, 0]], // biome-ignore format: one sentence a line
      [[0, 1, 3], [0, 1, 0], [0, 3, 0]], // biome-ignore format: one sentence a line
    ]);
    const posterior = new MeanFieldWalks(scores);
    const walks = allWalks(3, 3);
    const q = scores.unbind(0).map((h) => {
      const rows = h.unbind(0).map((row) => row.toNumbers());
      return walks.map((walk) => Math.exp(logProduct(rows, walk)));
    });
    const exact = enumerated(q);
    const { mean, error, most } = estimates(posterior, 400);
    expect(exact).toBeGreaterThan(0.3);
    expect(Math.abs(mean - exact)).toBeLessThan(4 * error);
    expect(most).toBeLessThanOrEqual(Math.log(4) + 1e-9);
  });

  const sharpness = 60;
  /** Each sentence all but certain of its own walk; the walks differ from each other at every step. */
  const certain = f64(
    Array.from({ length: 4 }, (_, n) =>
      Array.from({ length: 3 }, () => Array.from({ length: 4 }, (_, k) => (k === n ? sharpness : 0))),
    ),
  );

  test('is log N where each sentence has a walk of its own, and the paper’s estimator goes above', () => {
    const complete = new WalkableGraph(f64(digits('1111 1111 1111 1111')));
    for (const posterior of [new MeanFieldWalks(certain), WalkDistribution.fromScores(complete, certain)])
      expect(exactInformation(posterior, posterior.sampleNodes(new Generator(1)))).toBeCloseTo(
        Math.log(4),
        9,
      );
    const prior = WalkDistribution.fromScores(complete, f64([digits('0000 0000 0000')]));
    const paper = mutualInformation(WalkDistribution.fromScores(complete, certain), prior, 'mean').item();
    expect(paper).toBeCloseTo(3 * Math.log(4), 3);
  });

  test('is nothing where all sentences have the same posterior', () => {
    const same = certain.narrow(0, 1, 1).mul(0.02).expand(5, 3, 4);
    const graph = new WalkableGraph(f64(digits('0111 1010 1100 1000')), 'stay');
    for (const posterior of [new MeanFieldWalks(same), WalkDistribution.fromScores(graph, same)]) {
      const { mean, error } = estimates(posterior, 5);
      expect(Math.abs(mean)).toBeLessThan(1e-12);
      expect(error).toBeLessThan(1e-12);
    }
  });

  test('of many sentences is that of the whole table of sentences and walks', () => {
    const many = 600;
    const scores = Array.from({ length: many }, (_, n) =>
      Array.from({ length: 3 }, (_, i) => Array.from({ length: 4 }, (_, k) => 3 * Math.sin(n * (k + 1) + i))),
    );
    const posterior = new MeanFieldWalks(f64(scores));
    const nodes = posterior.sampleNodes(new Generator(4));
    const q = posterior
      .crossLogProb(nodes)
      .exp()
      .unbind(0)
      .map((row) => row.toNumbers());
    const terms = q.map((row, n) => Math.log(row[n]!) - Math.log(sum(q.map((other) => other[n]!)) / many));
    expect(exactInformation(posterior, nodes)).toBeCloseTo(sum(terms) / many, 9);
  });

  test('is finite and at most log N in float32, on graphs with isolated nodes', () => {
    const check = ({ A, h, rule }: { A: number[][]; h: number[][][]; rule: IsolatedRule }) =>
      scope(() => {
        const graph = new WalkableGraph(f64(A).to('float32'), rule);
        const posterior = WalkDistribution.fromScores(graph, f64(h).mul(20).to('float32'));
        const value = exactInformation(posterior, posterior.sampleNodes(new Generator(2)));
        expect(value).toBeGreaterThan(Number.NEGATIVE_INFINITY);
        expect(value).toBeLessThanOrEqual(Math.log(N) + 1e-5);
      });
    const cases = fc.record({ A: graphs(4), h: scoresOf(4), rule: fc.constantFrom(...rules) });
    fc.assert(fc.property(cases, check), { numRuns: 60, seed: 7 });
  });
});
