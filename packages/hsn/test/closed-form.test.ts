import { digits, expectClose, expectFinite, f64, sigmoid, sum } from '@hidden-schema/testing/closeness';
import { Generator } from '@hidden-schema/torch';
import { describe, expect, test } from 'vitest';
import { PairIndex } from '../src/graph/bernoulli.ts';
import { ClosedFormPosterior } from '../src/graph/closed-form.ts';
import { digamma } from '../src/graph/gamma.ts';
import {
  BernoulliPrior,
  BetaBernoulliPrior,
  type GraphPrior,
  logit,
  PowerLawPrior,
} from '../src/graph/prior.ts';
import { WalkPrior } from '../src/walk/processes.ts';
import { smoothWalks } from '../src/walk/smoothing.ts';
import { WalkableGraph } from '../src/walk/walkable-graph.ts';

const float64 = { dtype: 'float64' } as const;
const traversals = [
  [0, 0.8, 0.02, 0],
  [0.6, 0, 0.5, 0.01],
  [0, 0.4, 0, 0.9],
  [0.03, 0, 0.7, 0],
];
/** Squared probabilities: a traversal of 0.8 may be one of 0.8 or many small ones. */
const certainty = traversals.map((row, j) => row.map((c, k) => c * ((j + k) % 2 === 1 ? 0.9 : 0.2)));
const start = [0.4, 0.3, 0.2, 0.1];
/** What smoothing would report. */
const seen = (scale = 1) => ({
  traversals: f64(traversals).mul(scale),
  certainty: f64(certainty).mul(scale),
  start: f64(start),
});
const K = 4;

/** The formula above the class, in plain numbers: three rounds in which degrees (and a learned density) settle. */
function formula(
  before: readonly number[],
  odds: (expected: number) => number,
  sentences: number,
  M: number,
  rounds = 3,
): number[] {
  let logits = [...before];
  for (let round = 0; round < rounds; round++) logits = oneRound(logits, odds, sentences, M);
  return logits;
}

function oneRound(
  before: readonly number[],
  odds: (expected: number) => number,
  sentences: number,
  M: number,
): number[] {
  const pairs = [
    [0, 1],
    [0, 2],
    [0, 3],
    [1, 2],
    [1, 3],
    [2, 3],
  ] as const;
  const q = before.map(sigmoid);
  const n = traversals.map(sum);
  const degree = (j: number) =>
    Math.max(1, sum(pairs.map((pair, e) => (pair.some((end) => end === j) ? q[e]! : 0))));
  return pairs.map(([j, k]) => {
    const used = traversals[j]![k]! + traversals[k]![j]! + (M - 1) * (certainty[j]![k]! + certainty[k]![j]!);
    const x = odds(sum(q)) + sentences * (used - n[j]! / degree(j) - n[k]! / degree(k));
    return Math.abs(x) <= 12 ? x : Math.sign(x) * (12 + Math.log(Math.abs(x) / 12));
  });
}

describe('closed form', () => {
  const pairs = new PairIndex(K);
  const options = { sentences: 2, missingLinkCost: 5, rate: 1, ...float64 };

  test('starts at the prior', () => {
    const posterior = new ClosedFormPosterior(pairs, new BernoulliPrior(0.2), options);
    expectClose(
      posterior.links().probabilities,
      Array.from({ length: 6 }, () => 0.2),
      1e-12,
    );
    const uniform = posterior.transitions();
    expectClose(
      uniform,
      [0, 1, 2, 3].map((j) => [0, 1, 2, 3].map((k) => (j === k ? 0 : 1 / 3))),
      1e-12,
    );
  });

  test('log-odds are the formula, once and again from the new degrees', () => {
    const prior = new BernoulliPrior(0.2);
    const posterior = new ClosedFormPosterior(pairs, prior, options);
    posterior.observe(seen());
    const once = formula(
      Array.from({ length: 6 }, () => logit(0.2)),
      () => logit(0.2),
      2,
      5,
    );
    expectClose(posterior.logits, once, 1e-10);
    expect(once.some((x) => Math.abs(x) < 12)).toBe(true);
    posterior.observe(seen());
    expectClose(
      posterior.logits,
      formula(once, () => logit(0.2), 2, 5),
      1e-10,
    );
  });

  test('strong evidence is compressed, in its order', () => {
    const posterior = new ClosedFormPosterior(pairs, new BernoulliPrior(0.2), { ...options, sentences: 50 });
    posterior.observe(seen());
    const before = Array.from({ length: 6 }, () => logit(0.2));
    const strong = formula(before, () => logit(0.2), 50, 5);
    expectClose(posterior.logits, strong, 1e-10);
    expect(new Set(strong.filter((x) => x > 12)).size).toBeGreaterThan(1);
  });

  test('a learned density enters through its expected log-odds', () => {
    const prior: GraphPrior = new BetaBernoulliPrior(1, 3, pairs.count);
    const posterior = new ClosedFormPosterior(pairs, prior, options);
    posterior.observe(seen());
    const before = Array.from({ length: 6 }, () => logit(0.25));
    const odds = (expected: number) => digamma(1 + expected) - digamma(3 + 6 - expected);
    expectClose(posterior.logits, formula(before, odds, 2, 5), 1e-10);
  });

  test('a power law’s beliefs, one a link, are taken too', () => {
    const prior = new PowerLawPrior({ p: 0.2, exponent: 2.5 }, pairs, new Generator(0), float64);
    const posterior = new ClosedFormPosterior(pairs, prior, { ...options, sentences: 0 });
    posterior.observe(seen());
    expectClose(
      posterior.logits,
      Array.from({ length: 6 }, () => logit(0.2)),
      0.1,
    );
    expect(posterior.logits.requiresGrad).toBe(false);
  });

  test('traversals and start are running means', () => {
    const posterior = new ClosedFormPosterior(pairs, new BernoulliPrior(0.2), { ...options, rate: 0.25 });
    posterior.observe(seen());
    expectClose(
      posterior.traversals,
      traversals.map((row) => row.map((c) => c / 4)),
      1e-12,
    );
    expectClose(
      posterior.certainty,
      certainty.map((row) => row.map((c) => c / 4)),
      1e-12,
    );
    expectClose(
      posterior.start,
      start.map((s) => s / 4 + 0.75 / K),
      1e-12,
    );
    posterior.observe(seen(), 1);
    expectClose(posterior.traversals, traversals, 1e-12);
  });

  test('transitions are symmetric counts by row, every path open', () => {
    const posterior = new ClosedFormPosterior(pairs, new BernoulliPrior(0.2), options);
    posterior.observe(seen());
    const matrix = posterior.transitions();
    expectClose(matrix.sum(1), [1, 1, 1, 1], 1e-12);
    const both = traversals.map((row, j) =>
      row.map((c, k) => (j === k ? 0 : c + traversals[k]![j]! + 1e-4 / 16)),
    );
    expectClose(
      matrix,
      both.map((row) => row.map((c) => c / sum(row))),
      1e-12,
    );
  });

  test('nothing walked, and much too much, stay finite', () => {
    for (const scale of [0, 1e30]) {
      const posterior = new ClosedFormPosterior(pairs, new BetaBernoulliPrior(1, 1, pairs.count), {
        ...options,
        sentences: 1e6,
      });
      for (let i = 0; i < 3; i++) posterior.observe(seen(scale));
      expectFinite(posterior.logits, 'log-odds');
      expectFinite(posterior.transitions(), 'transitions');
    }
  });
});

describe('from walks to the graph', () => {
  const truth = digits('010001 101100 010100 011010 000101 100010');

  test('tokens of disjoint bags, smoothed exactly, give every link its sign', () => {
    const [nodes, length, sentences] = [6, 8, 300];
    const graph = new WalkableGraph(f64(truth));
    const prior = new WalkPrior('uniform', { nodes, length }, new Generator(0), float64).on(graph);
    const generator = new Generator(11);
    const walks = Array.from({ length: sentences }, () => prior.sampleNodes(generator).toNumbers());
    // Two tokens a node, none shared: a token's likelihood is 1/2 at its own node, and a little noise elsewhere.
    const emissions = Array.from({ length }, (_, i) =>
      f64(walks.map((walk) => truth.map((_, k) => (k === walk[i] ? 0.5 : 1e-3)))),
    );
    const pairs = new PairIndex(nodes);
    const density = new BetaBernoulliPrior(1, 1, pairs.count);
    const posterior = new ClosedFormPosterior(pairs, density, {
      sentences,
      missingLinkCost: 5,
      rate: 1,
      ...float64,
    });
    let last = Number.NEGATIVE_INFINITY;
    for (let round = 0; round < 5; round++) {
      const smoothed = smoothWalks(posterior.start, posterior.transitions(), emissions);
      expect(smoothed.logLikelihood.mean().item()).toBeGreaterThanOrEqual(last - 1e-3);
      last = smoothed.logLikelihood.mean().item();
      posterior.observe(smoothed);
    }
    expect(posterior.links().matrix().gt(0.5).to('float64').toNumbers()).toEqual(truth.flat());
    for (const x of posterior.logits.toNumbers()) expect(Math.abs(x)).toBeGreaterThan(3);
  });
});
