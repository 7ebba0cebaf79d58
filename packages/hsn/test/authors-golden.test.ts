import { expectClose, f64, gradientOf, readFixture, sum, transpose } from '@hidden-schema/testing/closeness';
import { allWalks, walkTensor, writtenOut } from '@hidden-schema/testing/enumeration';
import { grad, stack, type Tensor } from '@hidden-schema/torch';
import { describe, expect, test } from 'vitest';
import { LinkDistribution, PairIndex } from '../src/graph/bernoulli.ts';
import { BernoulliPrior } from '../src/graph/prior.ts';
import { aggregatedKl, mutualInformation } from '../src/walk/aggregate.ts';
import { gumbelSoftmax } from '../src/walk/categorical.ts';
import { WalkDistribution } from '../src/walk/chain.ts';
import { Transition } from '../src/walk/transition.ts';
import { WalkableGraph } from '../src/walk/walkable-graph.ts';

type Matrix = number[][];
interface Golden {
  inputs: {
    A: Matrix;
    A_isolated_node4: Matrix;
    h: Matrix[];
    u_walks_LBK: Matrix[];
    tau: number;
    W_test_loss: Matrix[];
  };
  rho: Matrix;
  rho_star: number[];
  Q_paper_eq5_k_to_j_from: Matrix[][];
  paper_kl_per_sentence_rws_and_start: Matrix;
  paper_kl_aggregated_rws_and_start: [number, number];
  paper_MI_estimate: number;
  exact_kl_of_true_aggregated_posterior_by_enumeration: number;
  exact_MI_by_enumeration: number;
  learned_prior_inputs: { f_prior_log_weights: Matrix; f0_prior_logits: number[] };
  learned_prior_P: Matrix[];
  gumbel: {
    pi: Matrix;
    u: Matrix;
    tau: number;
    w: Matrix;
    soft: Matrix;
    hard: Matrix;
    grad_pi_of_sum_w_y_soft: Matrix;
    grad_pi_of_sum_w_y_hard: Matrix;
  };
  graph: {
    q_upper_row_major: number[];
    prior_p: number;
    batch_size: number;
    u_graph: [number, number][];
    kl_code_batch3: number;
    kl_code_aggregated_batch3: number;
    kl_paper_sum_i_lt_j: number;
    kl_code_edge_cases_q_1_0_half_batch1: number;
    gamma_prior_link_probs_upper: number[];
    kl_code_gamma_prior_batch3: number;
    adjacency_hard: Matrix;
    adjacency_soft: Matrix;
  };
}

const golden = readFixture<Golden>('authors-golden');
const { inputs } = golden;
const [K, L] = [5, 4];
const uniformScores = Array.from({ length: L }, () => new Array<number>(K).fill(0));
/** Keys that carry a suffix by form and graph. */
const at = <T>(key: string) => (golden as unknown as Record<string, T>)[key]!;

/** All transition matrices of a chain as [from, to], put together from R and log(Q/R). */
function written(walk: WalkDistribution, sentence: number): Tensor[] {
  const { rows, active } = walk.graph;
  return walk.transitions.map((transition) =>
    rows.mul(transition.logRatio(sentence).exp()).add(active.neg().add(1).div(K).unsqueeze(1)),
  );
}

const chunk = (values: readonly number[]): Matrix => inputs.A.map((_, j) => values.slice(j * K, (j + 1) * K));

/** Steps' aggregated divergence from the uniform walk, in plain numbers; a link may be slightly negative. */
function writtenOutKl(adjacency: Matrix, constant: number): number {
  const flat = adjacency.map(() => 1);
  const P = writtenOut(adjacency, flat, 'uniform');
  let position = golden.rho_star;
  let total = 0;
  for (let i = 1; i < L; i++) {
    const each = inputs.h.map((h) => writtenOut(adjacency, h[i]!.map(Math.exp), 'uniform', constant));
    const Q = P.map((row, j) => row.map((_, k) => sum(each.map((q) => q[j]![k]!)) / each.length));
    for (const [j, row] of Q.entries())
      for (const [k, q] of row.entries()) if (q !== 0) total += position[j]! * q * Math.log(q / P[j]![k]!);
    position = flat.map((_, k) => sum(position.map((p, j) => p * Q[j]![k]!)));
  }
  return total;
}

const variants = [1, 0].flatMap((constant) =>
  (['', '_isolated'] as const).map((graph) => ({ constant, suffix: `_code_c${constant}${graph}`, graph })),
);

describe.each(variants)('the authors’ walks, $suffix', ({ constant, suffix, graph: which }) => {
  const form = { kind: 'symmetric', constant } as const;
  const adjacency = f64(which === '' ? inputs.A : inputs.A_isolated_node4).requireGrad();
  const h = f64(inputs.h).requireGrad();
  const graph = new WalkableGraph(adjacency);
  const posterior = WalkDistribution.fromScores(graph, h, form);
  const prior = WalkDistribution.fromScores(graph, f64([uniformScores]));
  const kl = aggregatedKl(posterior, prior, 'mean');

  test('transition matrices, of each sentence and on average', () => {
    const all = inputs.h.map((_, n) => stack(written(posterior, n)));
    expectClose(stack(all), at<number[]>(`Q${suffix}`), 1e-12);
    const isolatedRow = graph.active.neg().add(1).div(K).unsqueeze(1);
    const mean = posterior.transitions.map((t) => graph.rows.mul(t.meanRatio()).add(isolatedRow));
    // The program's 1/K is a float32.
    const tolerance = which === '' ? 1e-12 : 1e-8;
    expectClose(stack(mean), at<number[]>(`Qstar${suffix}`), tolerance);
    expectClose(stack(written(prior, 0).slice(0, 1)), at<number[]>(`P_uniform${which}`), tolerance);
  });

  test('start and marginals of the aggregate', () => {
    expectClose(posterior.logStart.exp(), golden.rho, 1e-12);
    const start = posterior.logStart.exp().mean(0, true);
    expectClose(start, golden.rho_star, 1e-12);
    // The aggregate as a chain of its own: a batch of one that steps by the mean matrices.
    let position = start;
    const marginals = [start];
    for (const transition of posterior.transitions) {
      position = position.matmul(graph.rows.mul(transition.meanRatio())).add(graph.leaveIsolated(position));
      marginals.push(position);
    }
    expectClose(stack(marginals), at<number[]>(`marginals${suffix}`), 1e-9);
  });

  test('aggregated divergence', () => {
    expectClose(kl.steps, at<number>(`kl_rws${suffix}`), 1e-9);
    expectClose(kl.start, at<number>(`kl_0${suffix}`), 1e-9);
  });

  const noise = (step: number) => f64(inputs.u_walks_LBK[step]!);
  const draw = (hard: boolean) => stack(posterior.sampleWith(noise, { temperature: inputs.tau, hard }), 1);

  test('sampled walks', () => {
    expectClose(draw(true), at<number[]>(`walk_sample_hard${suffix}`), 1e-9);
    expectClose(draw(true).argmax(-1), at<number[]>(`walk_sample_hard_nodes${suffix}`), 1e-9);
    expectClose(draw(false), at<number[]>(`walk_sample_soft${suffix}`), 1e-9);
  });

  const loss = (hard: boolean) => draw(hard).mul(f64(inputs.W_test_loss)).sum().add(kl.steps).add(kl.start);

  test('loss and its gradient by the scores', () => {
    expectClose(loss(true), at<number>(`test_loss${suffix}`), 1e-9);
    expectClose(loss(false), at<number>(`test_loss_soft${suffix}`), 1e-9);
    const hard = at<number[]>(`grad_h_of_test_loss_straight_through${suffix}`);
    expectClose(gradientOf(loss(true), h), hard, 1e-9);
    expectClose(gradientOf(loss(false), h), at<number[]>(`grad_h_of_test_loss_soft${suffix}`), 1e-9);
  });

  test('gradient by the links that exist', () => {
    // At missing links the program's guard (log 0 taken as 0) drops a part of the gradient: see the next test.
    const exists = adjacency.toNumbers();
    const ours = gradientOf(loss(false), adjacency).toNumbers();
    const theirs = at<Matrix>(`grad_A_of_test_loss_soft${suffix}`).flat();
    const links = [...exists.keys()].filter((e) => exists[e] === 1);
    expect(links.length).toBeGreaterThan(7);
    expectClose(
      links.map((e) => ours[e]!),
      links.map((e) => theirs[e]!),
      1e-9,
    );
  });

  test('gradient by links that are missing is the formula’s', () => {
    const links = adjacency.toNumbers();
    const ours = gradientOf(kl.steps, adjacency).toNumbers();
    const step = 1e-5;
    const moved = (e: number, by: number) =>
      writtenOutKl(chunk(links.map((a, i) => (i === e ? a + by : a))), constant);
    for (const [e, a] of links.entries()) {
      if (a === 1 || links.slice(e - (e % K), e - (e % K) + K).every((b) => b === 0)) continue;
      expectClose(ours[e]!, (moved(e, step) - moved(e, -step)) / (2 * step), 1e-7, `link ${e}`);
    }
  });
});

describe('the paper’s form', () => {
  const graph = new WalkableGraph(f64(inputs.A));
  const posterior = WalkDistribution.fromScores(graph, f64(inputs.h));
  const prior = WalkDistribution.fromScores(graph, f64([uniformScores]));

  test('transition matrices', () => {
    const ours = inputs.h.map((_, n) => stack(written(posterior, n)));
    const theirs = golden.Q_paper_eq5_k_to_j_from.map((sentence) => sentence.map(transpose));
    expectClose(stack(ours), theirs, 1e-12);
  });

  test('divergence of each sentence, aggregated, and mutual information', () => {
    const each = golden.paper_kl_per_sentence_rws_and_start.map(([steps, start]) => steps! + start!);
    expectClose(posterior.kl(prior), each, 1e-9);
    const aggregated = aggregatedKl(posterior, prior, 'mean');
    const [steps, start] = golden.paper_kl_aggregated_rws_and_start;
    expectClose(aggregated.steps, steps, 1e-9);
    expectClose(aggregated.start, start, 1e-9);
    expectClose(mutualInformation(posterior, prior, 'mean'), golden.paper_MI_estimate, 1e-9);
  });

  test('the true mixture, by listing all walks', () => {
    const walks = walkTensor(allWalks(K, L));
    const tables = inputs.h.map((h) =>
      WalkDistribution.fromScores(graph, f64([h]))
        .logProb(walks)
        .exp(),
    );
    const mixture = stack(tables).mean(0).toNumbers();
    const p = prior.logProb(walks).exp().toNumbers();
    const exact = mixture.reduce((s, q, i) => (q > 0 ? s + q * Math.log(q / p[i]!) : s), 0);
    expectClose(exact, golden.exact_kl_of_true_aggregated_posterior_by_enumeration, 1e-9);
    expectClose(posterior.kl(prior).mean().item() - exact, golden.exact_MI_by_enumeration, 1e-9);
    const projected = aggregatedKl(posterior, prior, 'projection');
    expect(projected.start.add(projected.steps).item()).toBeLessThanOrEqual(exact);
  });
});

describe('a prior that was learned', () => {
  const { f_prior_log_weights: weights, f0_prior_logits: start } = golden.learned_prior_inputs;
  const graph = new WalkableGraph(f64(inputs.A));
  const prior = new WalkDistribution(
    f64([start]).logSoftmax(-1),
    weights.map((row) => new Transition(graph, f64([row]))),
    graph,
  );

  test('transition matrices', () => {
    expectClose(stack(written(prior, 0)), golden.learned_prior_P, 1e-9);
  });

  test.each([0, 1])('aggregated divergence, c = %i', (constant) => {
    const posterior = WalkDistribution.fromScores(graph, f64(inputs.h), { kind: 'symmetric', constant });
    const kl = aggregatedKl(posterior, prior, 'mean');
    expectClose(kl.steps, at<number>(`learned_prior_kl_rws_code_c${constant}`), 1e-9);
    expectClose(kl.start, at<number>(`learned_prior_kl_0_code_c${constant}`), 1e-9);
  });
});

test('Gumbel-softmax of given probabilities and uniforms', () => {
  const { gumbel } = golden;
  for (const kind of ['soft', 'hard'] as const) {
    const pi = f64(gumbel.pi).requireGrad();
    const y = gumbelSoftmax(pi, f64(gumbel.u), { temperature: gumbel.tau, hard: kind === 'hard' });
    expectClose(y, gumbel[kind], 1e-7);
    const [gradient] = grad([y.mul(f64(gumbel.w)).sum()], [pi]);
    expectClose(gradient!, gumbel[`grad_pi_of_sum_w_y_${kind}`], 1e-7);
  }
});

describe('the authors’ graph', () => {
  const { graph } = golden;
  const logit = (q: number) => Math.log(q / (1 - q));
  const links = new LinkDistribution(new PairIndex(K), f64(graph.q_upper_row_major.map(logit)));
  const prior = new BernoulliPrior(graph.prior_p);
  const single = (q: number) => new LinkDistribution(new PairIndex(2), f64([q])).kl(prior.belief());

  test('divergence of links: the paper’s sum, and divided by the batch as in the program', () => {
    expectClose(links.kl(prior.belief()), graph.kl_paper_sum_i_lt_j, 1e-12);
    expectClose(links.kl(prior.belief()).div(graph.batch_size), graph.kl_code_batch3, 1e-9);
    const mean = graph.q_upper_row_major.reduce((a, b) => a + b) / graph.q_upper_row_major.length;
    expectClose(single(logit(mean)).div(graph.batch_size), graph.kl_code_aggregated_batch3, 1e-9);
  });

  test('divergence from a prior that differs from link to link', () => {
    const p = graph.gamma_prior_link_probs_upper;
    // One of them is exactly 0, of which the program takes the logarithm as 0.
    const belief = {
      logPresent: f64(p.map((value) => (value === 0 ? 0 : Math.log(value)))),
      logAbsent: f64(p.map((value) => Math.log1p(-value))),
    };
    expectClose(links.kl(belief).div(graph.batch_size), graph.kl_code_gamma_prior_batch3, 1e-9);
  });

  test('links that are certain', () => {
    const certain = [1e4, -1e4, 0].map((x) => single(x).item()).reduce((a, b) => a + b);
    expectClose(certain, graph.kl_code_edge_cases_q_1_0_half_batch1, 1e-9);
  });

  test('sampled adjacency', () => {
    // The program draws from two classes [q, 1 − q]: the difference of two Gumbel draws is a logistic one.
    const gumbel = (u: number) => -Math.log(-Math.log(u));
    const noise = graph.u_graph.map(([link, none]) => 1 / (1 + Math.exp(gumbel(none) - gumbel(link))));
    for (const kind of ['hard', 'soft'] as const) {
      const sample = links.sampleWith(f64(noise), { temperature: inputs.tau, hard: kind === 'hard' });
      expectClose(sample, graph[`adjacency_${kind}`], 1e-9);
    }
  });
});
