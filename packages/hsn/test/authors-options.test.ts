// Readings of the authors' program that are settings here, each against a computation by hand.
import { Random } from '@hidden-schema/base';
import { expectClose, f64, sigmoid, someLogits, sum } from '@hidden-schema/testing/closeness';
import { allWalks } from '@hidden-schema/testing/enumeration';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyConfig, tinyCorpus } from '@hidden-schema/testing/tiny-corpus';
import { Generator, type Tensor, tensor } from '@hidden-schema/torch';
import { afterAll, describe, expect, test } from 'vitest';
import { BagDecoder } from '../src/decoder/bag.ts';
import { LinkDistribution, PairIndex } from '../src/graph/bernoulli.ts';
import { NormedInnerProduct } from '../src/graph/posterior.ts';
import { BernoulliPrior } from '../src/graph/prior.ts';
import { DrawnPrior, drawGamma, graphPriors, PreferentialAttachmentPrior } from '../src/graph/priors.ts';
import { graphKl } from '../src/objective/objective.ts';
import { Symbols } from '../src/symbols/symbols.ts';
import { degrees, hasEdge, randomGraph } from '../src/tasks/synthetic/corpus/graphs.ts';
import { SyntheticTask } from '../src/tasks/synthetic/task.ts';
import { Plateau } from '../src/train/updater.ts';
import { guardedLog } from '../src/walk/categorical.ts';
import { MeanFieldWalks } from '../src/walk/mean-field.ts';
import { WalkPrior } from '../src/walk/processes.ts';
import { WalkableGraph } from '../src/walk/walkable-graph.ts';

const float64 = { dtype: 'float64' } as const;
const folder = temporaryFolder('authors-options');
afterAll(folder.remove);

test('the KL of the mean link is that of one Bernoulli variable', () => {
  const pairs = new PairIndex(5);
  const logits = someLogits(pairs.count);
  const links = new LinkDistribution(pairs, f64(logits));
  const q = sum(logits.map(sigmoid)) / pairs.count;
  const by = (p: number) => q * Math.log(q / p) + (1 - q) * Math.log((1 - q) / (1 - p));
  expectClose(graphKl(links, new BernoulliPrior(0.5), 'mean'), by(0.5), 1e-12);
  const each = logits.map((_, e) => 0.1 + 0.05 * e);
  const belief = { logPresent: f64(each.map(Math.log)), logAbsent: f64(each.map((p) => Math.log(1 - p))) };
  expectClose(links.meanKl(belief), by(sum(each) / each.length), 1e-12);
  expect(graphKl(links, new BernoulliPrior(0.5)).item()).toBeGreaterThan(pairs.count * by(0.5));
});

test('draws of a Gamma distribution have its moments and shares', () => {
  const generator = new Generator(4);
  for (const a of [0.0377, 0.5]) {
    const draws = drawGamma(a, [400, 1000], generator).toNumbers();
    const mean = sum(draws) / draws.length;
    expect(mean / a).toBeCloseTo(1, 1);
    expect(sum(draws.map((x) => (x - mean) ** 2)) / draws.length / a).toBeCloseTo(1, 1);
  }
  // Half the square of a normal variable is Gamma(1/2): within one deviation with probability 0.6827.
  const half = drawGamma(0.5, [1000, 1000], generator).toNumbers();
  expect(half.filter((x) => x < 0.5).length / half.length).toBeCloseTo(0.6827, 2.5);
  expect(() => drawGamma(2, [1], generator)).toThrow('got 2');
});

describe('the drawn prior', () => {
  const pairs = new PairIndex(100);
  /** Mean p and mean log p over many draws. */
  function drawn() {
    const prior = new DrawnPrior(pairs, new Generator(5), 'free');
    const draws = Array.from({ length: 100 }, () => prior.belief());
    const logs = draws.flatMap(({ logPresent }) => (logPresent as Tensor).toNumbers());
    const absent = draws.flatMap(({ logAbsent }) => (logAbsent as Tensor).toNumbers());
    const mean = (values: readonly number[]) => sum(values) / values.length;
    return { p: 1 - mean(absent.map(Math.exp)), log: mean(logs) };
  }

  test('has the density and the pull that were measured of the authors’ program', () => {
    const { p, log } = drawn();
    expect(p).toBeCloseTo(0.0188, 2.5);
    expect(log).toBeGreaterThan(-5.6);
    expect(log).toBeLessThan(-5.1);
  });

  test('draws afresh at each step, and the same from the same state', () => {
    const generator = new Generator(3);
    const prior = new DrawnPrior(pairs, generator, 'free');
    const draw = () => (prior.belief().logPresent as Tensor).toNumbers();
    const state = generator.state();
    const first = draw();
    expect(draw()).not.toEqual(first);
    generator.restore(state);
    expect(draw()).toEqual(first);
  });
});

describe('preferential attachment', () => {
  test('orders symbols by expected degree', () => {
    const pairs = new PairIndex(4);
    // 2 has most links, then 0, 3, 1.
    const p = (i: number, j: number) => [0.5, 0.1, 0.9, 0.3][i]! * [0.5, 0.1, 0.9, 0.3][j]!;
    const logits = [...pairs.rows].map((i, e) => Math.log(1 / (1 / p(i, pairs.columns[e]!) - 1)));
    const links = new LinkDistribution(pairs, f64(logits));
    const rank = [2, 4, 1, 3];
    const wanted = [...pairs.rows].map((i, e) =>
      Math.min(1 - 1e-6, 1 / Math.sqrt(rank[i]! * rank[pairs.columns[e]!]!)),
    );
    const { logPresent, logAbsent } = new PreferentialAttachmentPrior(2, pairs).belief(0, links);
    expectClose((logPresent as Tensor).exp(), wanted, 1e-12);
    expectClose(
      (logAbsent as Tensor).exp(),
      wanted.map((x) => 1 - x),
      1e-12,
    );
  });

  test('links ranks as often as graphs that grew so', () => {
    const [K, m, draws] = [40, 3, 400];
    const pairs = new PairIndex(K);
    const counts = new Array<number>(pairs.count).fill(0);
    const random = new Random(2);
    for (let draw = 0; draw < draws; draw++) {
      const { adjacency } = randomGraph('barabasi', K, { attach: m }, random);
      const degree = degrees(adjacency);
      const order = Array.from(degree, (_, i) => i).sort((a, b) => degree[b]! - degree[a]!);
      for (let e = 0; e < pairs.count; e++)
        counts[e]! += Number(hasEdge(adjacency, order[pairs.rows[e]!]!, order[pairs.columns[e]!]!));
    }
    // Logits that fall with the number keep the order of symbols.
    const falling = [...pairs.rows].map((i, e) => 3 - 0.05 * (i + pairs.columns[e]!));
    const { logPresent } = new PreferentialAttachmentPrior(m, pairs).belief(
      0,
      new LinkDistribution(pairs, f64(falling)),
    );
    const p = (logPresent as Tensor).exp().toNumbers();
    const observed = counts.map((count) => count / draws);
    expect(sum(p) / sum(observed)).toBeGreaterThan(0.75);
    expect(sum(p) / sum(observed)).toBeLessThan(1.25);
    const hubs = [...pairs.rows].flatMap((i, e) => (i < 3 && pairs.columns[e]! > 9 ? [e] : []));
    const rest = [...pairs.rows].flatMap((i, e) => (i > 19 ? [e] : []));
    const ratio = (values: readonly number[]) =>
      sum(hubs.map((e) => values[e]!)) / hubs.length / (sum(rest.map((e) => values[e]!)) / rest.length);
    expect(ratio(p)).toBeGreaterThan(3);
    expect(ratio(observed)).toBeGreaterThan(3);
  });
});

test('a sparse prior has as many links a symbol whatever their number', () => {
  for (const nodes of [50, 400]) {
    const pairs = new PairIndex(nodes);
    const settings = { ...tinyConfig({}).graph, degree: 6 };
    const { logPresent } = graphPriors
      .sparse({ settings, pairs, generator: new Generator(1), options: {} })
      .belief();
    expectClose((Math.exp(logPresent as number) * pairs.count * 2) / nodes, 6, 1e-12);
  }
});

describe('bags as logits', () => {
  const bags = Array.from({ length: 100 }, (_, k) =>
    Array.from({ length: 200 }, (__, v) => (v === 2 * k || v === 2 * k + 1 ? 0.5 : 0)),
  );
  const decoder = (likelihood: 'bags' | 'bags-as-logits') =>
    new BagDecoder(
      { symbols: 100, vocabulary: 200, noise: 1e-3, likelihood },
      new Generator(1),
      tensor(bags),
    );
  const walk = [3, 70, 99, 0, 8, 8, 41, 20, 13, 5, 64];
  const tokens = tensor([walk.map((k) => 2 * k)], { dtype: 'int64' });
  const at = (nodes: readonly number[]) =>
    nodes.map((k) => tensor([Array.from({ length: 100 }, (_, j) => Number(j === k))]));
  const nll = (how: 'bags' | 'bags-as-logits', positions: Tensor[]) =>
    -decoder(how).logLikelihood({ tokens }, { positions }).perSentence.item();

  test('gives the paper’s 53.07 where every symbol is right', () => {
    expect(nll('bags-as-logits', at(walk))).toBeCloseTo(53.069, 2);
    expect(nll('bags', at(walk))).toBeCloseTo(11 * Math.LN2, 1);
    const wrong = at(walk.map((k) => (k + 1) % 100));
    expect(nll('bags-as-logits', wrong) - nll('bags-as-logits', at(walk))).toBeCloseTo(5.5, 3);
  });

  test('takes the softmax of mixed bags where positions are soft', () => {
    const soft = walk.map((k) => tensor([Array.from({ length: 100 }, (_, j) => (j === k ? 0.7 : 0.3 / 99))]));
    const one = (() => {
      const logits = Array.from({ length: 204 }, (_, v) => (v < 200 ? 0.5 * (v < 2 ? 0.7 : 0.3 / 99) : 0));
      return Math.log(sum(logits.map(Math.exp))) - logits[0]!;
    })();
    expect(nll('bags-as-logits', soft)).toBeCloseTo(11 * one, 3);
  });
});

describe('normed inner products', () => {
  test('are LayerNorm and LeakyReLU between two layers', () => {
    const pairs = new PairIndex(3);
    const network = { hidden: 4, layers: 1, initialLogit: -7, ...float64 };
    const posterior = new NormedInnerProduct(Symbols.oneHot(3, float64), pairs, network, new Generator(2));
    const [w1, b1, w2, b2] = [posterior.first, posterior.second].flatMap(({ weight, bias }) => [
      weight.toNumbers(),
      bias!.toNumbers(),
    ]);
    const nodes = [0, 1, 2].map((k) => {
      const state = [0, 1, 2, 3].map((h) => w1![h * 3 + k]! + b1![h]!);
      const mean = sum(state) / 4;
      const variance = sum(state.map((x) => (x - mean) ** 2)) / 4;
      const normed = state.map((x) => (x - mean) / Math.sqrt(variance + 1e-5));
      const active = normed.map((x) => (x > 0 ? x : 0.01 * x));
      return [0, 1].map((o) => sum(active.map((x, h) => x * w2![o * 4 + h]!)) + b2![o]!);
    });
    const wanted = [...pairs.rows].map((i, e) =>
      sum(nodes[i]!.map((x, o) => x * nodes[pairs.columns[e]!]![o]!)),
    );
    expectClose(posterior.links().logits, wanted, 1e-12);
  });

  test('start near the complete graph where symbols are bags of two tokens', () => {
    const bags = tensor(
      Array.from({ length: 100 }, (_, k) =>
        Array.from({ length: 204 }, (__, v) => (v === 2 * k || v === 2 * k + 1 ? 0.5 : 0)),
      ),
    );
    const network = { hidden: 256, layers: 1, initialLogit: 0 };
    const posterior = new NormedInnerProduct(
      Symbols.bags(bags),
      new PairIndex(100),
      network,
      new Generator(1),
    );
    const logits = posterior.links().logits.toNumbers();
    const mean = sum(logits) / logits.length;
    expect(mean).toBeGreaterThan(12);
    expect(mean).toBeLessThan(20);
    expect(Math.min(...logits)).toBeGreaterThan(6);
  });
});

test('log 0 is that of a small number, or 0', () => {
  const p = tensor([0, 1e-12, 0.5, 1], float64);
  expectClose(guardedLog(p, 'floor'), [Math.log(1e-8), Math.log(1e-8), -Math.LN2, 0], 1e-12);
  expectClose(guardedLog(p, 'free'), [0, Math.log(1e-8), -Math.LN2, 0], 1e-12);
});

test('a step without a link is free for the mean field where log 0 is 0', () => {
  const [K, L] = [3, 3];
  const scores = [
    [
      [0.2, -1, 0.4],
      [1, 0, -0.5],
      [0.3, 0.3, -2],
    ],
  ];
  const A = [
    [0, 1, 0],
    [1, 0, 1],
    [0, 1, 0],
  ];
  const prior = new WalkPrior('uniform', { nodes: K, length: L }, new Generator(1), float64).on(
    new WalkableGraph(tensor(A, float64)),
  );
  const softmax = (row: readonly number[]) => row.map((x) => Math.exp(x) / sum(row.map(Math.exp)));
  const rho = scores[0]!.map(softmax);
  let kl = 0;
  for (const walk of allWalks(K, L)) {
    const q = walk.reduce((p, k, i) => p * rho[i]![k]!, 1);
    const steps = walk.slice(1).map((to, i) => {
      const from = walk[i]!;
      return A[from]![to] ? Math.log(1 / sum(A[from]!)) : 0;
    });
    kl += q * (Math.log(q) - Math.log(1 / K) - sum(steps));
  }
  expectClose(new MeanFieldWalks(tensor(scores, float64), 'free').kl(prior), [kl], 1e-10);
  expect(new MeanFieldWalks(tensor(scores, float64)).kl(prior).item()).toBeGreaterThan(kl + 5);
});

describe('rates that fall where validation stalls', () => {
  test.each([
    [0, [5, 4, 4.5, 4.2, 3, 3.5], [1, 1, 0.8, 0.64, 0.64, 0.512]],
    [1, [5, 6, 5.5, 5.2, 4, 4.1, 4.1], [1, 1, 0.8, 0.8, 0.8, 0.8, 0.64]],
    [2, [5, 5, 5, 5, 5], [1, 1, 1, 0.8, 0.8]],
  ])('after more than %d evaluations without gain', (patience, objectives, factors) => {
    const plateau = new Plateau({ factor: 0.8, patience, least: 0 });
    const seen = objectives.map((objective) => {
      plateau.validated(objective);
      return plateau.factor;
    });
    expectClose(seen, factors, 1e-12);
  });

  const corpus = tinyCorpus(folder.path('tiny'));
  const config = tinyConfig({
    graph: { posterior: 'pairs' },
    training: {
      steps: 9,
      rate: 0.01,
      schedule: 'plateau',
      warmup: 0,
      plateau: { factor: 0.5, least: 0.002 },
    },
  });

  test('reach the weights, end training below the least rate, and are part of a checkpoint', () => {
    const task = new SyntheticTask(config, corpus);
    const { trainer } = task;
    expect(trainer.trainStep().rate).toBeCloseTo(0.01, 12);
    expect([3, 4].map((objective) => trainer.validated(objective))).toEqual([false, true]);
    expect(trainer.trainStep().rate).toBeCloseTo(0.005, 12);
    const saved = JSON.parse(JSON.stringify(trainer.state()));
    expect(saved.plateau).toEqual({ best: 3, since: 0, factor: 0.5 });
    const other = new SyntheticTask(config, corpus).trainer;
    other.restore(saved, new Map(trainer.model.namedTensors()), new Map(trainer.optimizer.namedTensors()));
    expect(other.trainStep().rate).toBeCloseTo(0.005, 12);
    expect([trainer.validated(3.1), trainer.validated(3.2), trainer.finished]).toEqual([true, true, true]);
    trainer.free();
    other.free();
  });

  test('other schedules do not look at validation', () => {
    const plain = tinyConfig({ training: { steps: 3, schedule: 'constant', warmup: 0 } });
    const { trainer } = new SyntheticTask(plain, corpus);
    expect([2, 3, 4].some((objective) => trainer.validated(objective))).toBe(false);
    expect(trainer.state()).not.toHaveProperty('plateau');
    trainer.free();
  });
});

test('a network with all of the authors’ synthetic readings trains', () => {
  const corpus = tinyCorpus(folder.path('all'));
  const config = tinyConfig({
    graph: { posterior: 'inner-normed', prior: 'drawn', symbols: 'bags', logZero: 'free', klWeight: 'batch' },
    walk: { form: 'symmetric', constant: 1, expectation: 'sampled' },
    encoder: { teacher: 'none' },
    objective: { likelihood: 'bags-as-logits', aggregation: 'mean' },
    training: { steps: 5 },
  });
  const { trainer } = new SyntheticTask(config, corpus);
  const losses = Array.from({ length: 5 }, () => trainer.trainStep());
  for (const { loss, kl_graph } of losses) expect(Number.isFinite(loss + kl_graph!)).toBe(true);
  trainer.free();
});
