import { digits, expectClose, f64, gradientOf, sum } from '@hidden-schema/testing/closeness';
import {
  allWalks,
  tableKl,
  walkFixtures,
  walkModel,
  walkProbability,
  walkTensor,
  writtenOut,
} from '@hidden-schema/testing/enumeration';
import { Generator, stack, type Tensor } from '@hidden-schema/torch';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WalkDistribution } from '../src/walk/chain.ts';
import { WalkPrior, type WalkPriorKind } from '../src/walk/processes.ts';
import { Transition, type TransitionForm } from '../src/walk/transition.ts';
import { type IsolatedRule, WalkableGraph } from '../src/walk/walkable-graph.ts';

describe.each(walkFixtures)('walks of %s equal their enumeration', (name) => {
  const { fixture, prior, posterior, scores, one } = walkModel(name);
  const { expected } = fixture;
  const walks = allWalks(fixture.K, fixture.L);
  const table = walkTensor(walks);
  const N = posterior.logStart.dim(0);

  test('log-probability of every walk', () => {
    expectClose(prior.logProb(table).exp(), expected.prior_walk_prob, 1e-9, 'prior');
    for (let n = 0; n < N; n++)
      expectClose(one(n).logProb(table).exp(), expected.q_walk_prob[n]!, 1e-9, `sentence ${n}`);
  });

  test('log-probability of one walk a sentence', () => {
    const chosen = expected.q_walk_prob.map((row) => row.indexOf(Math.max(...row)));
    const best = chosen.map((index, n) => Math.log(expected.q_walk_prob[n]![index]!));
    expectClose(posterior.logProb(walkTensor(chosen.map((index) => walks[index]!))), best);
  });

  test('marginals', () => {
    expectClose(stack(prior.marginals(), 1), expected.prior_marginals, 1e-9, 'prior');
    expectClose(stack(posterior.marginals(), 1), expected.q_marginals, 1e-9, 'posterior');
  });

  test('step after step, each after the one before it', () => {
    for (let n = 0; n < N; n++) {
      const nodes = table.unbind(1);
      let product = one(n).logStart.exp().select(0, 0).indexSelect(0, nodes[0]!);
      for (let i = 1; i < nodes.length; i++) {
        const next = one(n).following(i, nodes[i - 1]!);
        product = product.mul(next.gather(1, nodes[i]!.unsqueeze(1)).squeeze(1));
      }
      expectClose(product, expected.q_walk_prob[n]!, 1e-9, `sentence ${n}`);
    }
  });

  test('divergence from the prior, sentence by sentence', () => {
    expectClose(posterior.kl(prior), expected.kl_q_prior);
  });

  /** E_q[log p(x|z)] over the listed walks that q can take. */
  function expectedLogLikelihood(n: number): Tensor {
    const possible = walks.flatMap((_, i) => (expected.q_walk_prob[n]![i]! > 0 ? [i] : []));
    const q = one(n).logProb(walkTensor(possible.map((i) => walks[i]!)));
    const scored = q.exp().mul(f64(possible.map((i) => fixture.log_likelihood[n]![i]!)));
    return scored.sum();
  }

  test('evidence lower bound', () => {
    for (let n = 0; n < N; n++) {
      expectClose(expectedLogLikelihood(n), expected.expected_log_likelihood[n]!);
      expectClose(expectedLogLikelihood(n).sub(one(n).kl(prior)), expected.elbo[n]!);
    }
  });

  if (expected.gradients_wrt_h)
    test('gradients of divergence and bound', () => {
      const wanted = expected.gradients_wrt_h!;
      const kl = posterior.kl(prior).select(0, 0);
      expectClose(gradientOf(kl, scores).select(0, 0), wanted.kl_q_prior_sample0);
      const bound = expectedLogLikelihood(0).sub(kl);
      expectClose(gradientOf(bound, scores).select(0, 0), wanted.elbo_sample0);
    });
});

const forms: readonly TransitionForm[] = [
  { kind: 'paper', constant: 0 },
  { kind: 'symmetric', constant: 0 },
  { kind: 'symmetric', constant: 0.7 },
];
const rules: readonly IsolatedRule[] = ['uniform', 'stay'];

const entry = fc.double({ min: -3, max: 3, noNaN: true, noDefaultInfinity: true });
const matrixOf = (rows: number, columns: number, element: fc.Arbitrary<number>) =>
  fc.array(fc.array(element, { minLength: columns, maxLength: columns }), {
    minLength: rows,
    maxLength: rows,
  });
/** A directed graph, self-loops and isolated nodes included, with soft or hard links. */
const graphs = (nodes: number) =>
  matrixOf(nodes, nodes, fc.constantFrom(0, 0, 0, 1, 1, 0.3)).chain((links) =>
    fc
      .subarray([...links.keys()])
      .map((isolated) => links.map((row, j) => (isolated.includes(j) ? row.map(() => 0) : row))),
  );

const cases = fc
  .record({
    nodes: fc.integer({ min: 2, max: 5 }),
    form: fc.constantFrom(...forms),
    rule: fc.constantFrom(...rules),
  })
  .chain(({ nodes, form, rule }) =>
    fc.record({
      nodes: fc.constant(nodes),
      form: fc.constant(form),
      rule: fc.constant(rule),
      adjacency: graphs(nodes),
      q: matrixOf(3, nodes, entry),
      p: matrixOf(3, nodes, entry),
    }),
  );

/** Rows of Q by stepping from each node in turn. */
function steppedMatrix(graph: WalkableGraph, f: readonly number[], form: TransitionForm): Tensor {
  const logs = f64(graph.active.toNumbers().map(() => f.map(Math.log)));
  return new Transition(graph, logs, form).next(
    f64(graph.active.toNumbers().map((_, j) => f.map((_, k) => Number(j === k)))),
  );
}

describe('any graph', () => {
  test('the transition matrix is the written-out one, and its rows sum to one', () => {
    fc.assert(
      fc.property(cases, ({ adjacency, form, rule, q }) => {
        const graph = new WalkableGraph(f64(adjacency), rule);
        const f = q[0]!.map(Math.exp);
        const stepped = steppedMatrix(graph, f, form);
        const constant = form.kind === 'paper' ? undefined : form.constant;
        expectClose(stepped, writtenOut(adjacency, f, rule, constant), 1e-12);
        expectClose(
          stepped.sum(1),
          adjacency.map(() => 1),
          1e-12,
        );
      }),
    );
  });

  test('a step conserves mass', () => {
    fc.assert(
      fc.property(cases, ({ adjacency, form, rule, q }) => {
        const graph = new WalkableGraph(f64(adjacency), rule);
        const position = f64(q).softmax(-1);
        const moved = new Transition(graph, f64(q), form).next(position);
        expectClose(
          moved.sum(1),
          q.map(() => 1),
          1e-12,
        );
      }),
    );
  });

  test('walk probabilities, sum and divergence equal enumeration', () => {
    fc.assert(
      fc.property(cases, ({ nodes, adjacency, form, rule, q, p }) => {
        const graph = new WalkableGraph(f64(adjacency), rule);
        const make = (scores: number[][]) => WalkDistribution.fromScores(graph, f64([scores]), form);
        const walks = allWalks(nodes, 3);
        const enumerate = (scores: number[][]) => {
          const start = scores[0]!.map(Math.exp).map((value, _, all) => value / sum(all));
          const constant = form.kind === 'paper' ? undefined : form.constant;
          const matrices = scores
            .slice(1)
            .map((row) => writtenOut(adjacency, row.map(Math.exp), rule, constant));
          return walks.map((walk) => walkProbability(walk, start, matrices));
        };
        const [tableQ, tableP] = [enumerate(q), enumerate(p)];
        expectClose(make(q).logProb(walkTensor(walks)).exp(), tableQ, 1e-12);
        expectClose(sum(tableQ), 1, 1e-12);
        const kl = make(q).kl(make(p)).item();
        expectClose(kl, tableKl(tableQ, tableP), 1e-11);
        expect(kl).toBeGreaterThan(-1e-12);
      }),
    );
  });

  test('the symmetric form without its constant is the paper’s', () => {
    const graph = new WalkableGraph(f64(digits('011 101 100')));
    const f = [0.2, 3, 0.7];
    expectClose(steppedMatrix(graph, f, forms[1]!), steppedMatrix(graph, f, forms[0]!), 1e-14);
  });
});

describe('sampling', () => {
  const { fixture, posterior, one } = walkModel('C_K6_L4_directed_selfloops');

  test('sampled walks stay on the graph and have the enumerated frequencies', () => {
    const draws = 20_000;
    const many = new WalkDistribution(
      one(0).logStart.expand(draws, fixture.K),
      fixture.posterior_q.h![0]!.slice(1).map((row) => new Transition(posterior.graph, f64([row]))),
      posterior.graph,
    );
    const walks = many.sampleNodes(new Generator(5)).toNumbers();
    const counts = new Array<number>(fixture.K ** fixture.L).fill(0);
    for (let n = 0; n < draws; n++) {
      const index = walks.slice(n * fixture.L, (n + 1) * fixture.L).reduce((a, k) => a * fixture.K + k, 0);
      counts[index]! += 1 / draws;
    }
    const wanted = fixture.expected.q_walk_prob[0]!;
    for (const [i, share] of counts.entries()) {
      if (wanted[i] === 0) expect(share).toBe(0);
      // Five standard deviations of a binomial share.
      expect(Math.abs(share - wanted[i]!)).toBeLessThanOrEqual(5 * Math.sqrt(wanted[i]! / draws) + 1e-12);
    }
  });

  test('hard samples are one-hot and carry gradients, soft ones are distributions', () => {
    for (const hard of [true, false]) {
      const { posterior: q, scores } = walkModel('A_K4_L3');
      const walk = stack(q.sample(new Generator(1), { temperature: 0.7, hard }), 1);
      expectClose(
        walk.sum(-1),
        Array.from({ length: 12 }, () => 1),
        1e-12,
      );
      const peaks = walk.amax(-1).toNumbers();
      if (hard)
        expectClose(
          peaks,
          peaks.map(() => 1),
          1e-12,
        );
      else for (const peak of peaks) expect(peak).toBeLessThan(1);
      const weights = f64(Array.from({ length: 4 }, (_, k) => k));
      expect(gradientOf(walk.mul(weights).sum(), scores).abs().sum().item()).toBeGreaterThan(1e-3);
    }
  });

  test('the same seed gives the same walks, another seed others', () => {
    const draw = (seed: number) => posterior.sampleNodes(new Generator(seed)).toNumbers();
    expect(draw(3)).toEqual(draw(3));
    expect([4, 5, 6, 7].map(draw)).not.toEqual([4, 5, 6, 7].map(() => draw(3)));
  });
});

describe('prior kinds', () => {
  const K = 4;
  const adjacency = digits('0110 1010 1101 0010');
  const kinds: [WalkPriorKind, number][] = [
    ['uniform', 0],
    ['trained', 2],
    ['inhomogeneous', 2],
  ];

  test.each(kinds)('%s: its parameters, and the distribution they mean', (kind, parameters) => {
    const prior = new WalkPrior(kind, { nodes: K, length: 4 }, new Generator(2), { dtype: 'float64' });
    expect(prior.parameters()).toHaveLength(parameters);
    const walk = prior.on(new WalkableGraph(f64(adjacency)));
    const start = prior.start?.softmax(-1).toNumbers() ?? adjacency.map(() => 1 / K);
    const flat = adjacency.map(() => 1);
    const weights = prior.weights?.exp().toNumbers() ?? flat;
    const f = (i: number) => (kind === 'inhomogeneous' ? weights.slice(i * K, (i + 1) * K) : weights);
    const matrices = [0, 1, 2].map((i) => writtenOut(adjacency, f(i), 'uniform'));
    const walks = allWalks(K, 4);
    const wanted = walks.map((z) => walkProbability(z, start, matrices));
    expectClose(walk.logProb(walkTensor(walks)).exp(), wanted, 1e-12);
  });

  test('a trained prior takes gradients from the divergence', () => {
    for (const kind of ['trained', 'inhomogeneous'] as const) {
      const prior = new WalkPrior(kind, { nodes: K, length: 3 }, new Generator(2), { dtype: 'float64' });
      const { posterior } = walkModel('A_K4_L3');
      const kl = posterior.kl(prior.on(posterior.graph)).sum();
      for (const parameter of prior.parameters())
        expect(gradientOf(kl, parameter).abs().sum().item()).toBeGreaterThan(1e-3);
    }
  });
});
