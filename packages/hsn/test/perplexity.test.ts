import { Random } from '@hidden-schema/base';
import { digits, f64, readFixture, sum } from '@hidden-schema/testing/closeness';
import { allWalks, walkTensor } from '@hidden-schema/testing/enumeration';
import { evidence, likelihoods, tinyTrained } from '@hidden-schema/testing/tiny-language';
import { Generator, noGrad, scope, stack, type Tensor } from '@hidden-schema/torch';
import { describe, expect, test, vi } from 'vitest';
import { sampledGraphs, summarise } from '../src/tasks/language/evaluation.ts';
import type { LanguageNetwork } from '../src/tasks/language/network.ts';
import { schemaOf } from '../src/tasks/language/network.ts';
import {
  type LogWeights,
  logWeights,
  type PosteriorOf,
  type SentenceEstimate,
  sentenceEstimate,
  wideLogLikelihood,
} from '../src/tasks/language/perplexity.ts';
import { WalkableGraph } from '../src/walk/walkable-graph.ts';

type Value = number | string;
interface Fixture {
  cases: { name: string; log_weights: Value[]; R: number; log_estimate: number; mean_log_weight: Value }[];
  graph_and_walk: { R: number; S: number; log_weights: number[][]; log_estimate: number };
  perplexity: {
    log_likelihood_per_sentence: number[];
    tokens_per_sentence: number[];
    corpus_perplexity: number;
    mean_of_sentence_perplexities: number;
  };
}
const fixture = readFixture<Fixture>('metrics/importance_weighted');

/** An estimate from weights alone; the likelihoods are read for the reconstruction only. */
function estimate(weights: readonly Value[]): SentenceEstimate {
  const values = Float64Array.from(weights, Number);
  return sentenceEstimate({ weights: values, paperWeights: values, likelihoods: values }, 1);
}

describe('the importance-weighted estimate of a sentence', () => {
  test.each(fixture.cases)('$name', ({ log_weights, R, log_estimate, mean_log_weight }) => {
    expect(log_weights.length).toBe(R);
    const { logLikelihood, reconstruction } = estimate(log_weights);
    expect(logLikelihood).toBeCloseTo(log_estimate, 10);
    if (mean_log_weight === '-Infinity') expect(reconstruction).toBe(Number.POSITIVE_INFINITY);
    else expect(-reconstruction).toBeCloseTo(mean_log_weight as number, 10);
  });

  // The fixture's weights contain log p(A) − log q(A), as paperWeights do; their mean is the same formula.
  test('R walks on each of S graphs', () => {
    const { R, S, log_weights, log_estimate } = fixture.graph_and_walk;
    const flat = log_weights.flat();
    expect(flat.length).toBe(R * S);
    expect(estimate(flat).logLikelihood).toBeCloseTo(log_estimate, 10);
  });

  test('is −∞, not NaN, where the prior forbids every walk', () => {
    expect(estimate(['-Infinity', '-Infinity']).logLikelihood).toBe(Number.NEGATIVE_INFINITY);
  });
});

describe('figures of a corpus', () => {
  const { log_likelihood_per_sentence, tokens_per_sentence, corpus_perplexity } = fixture.perplexity;
  const given = log_likelihood_per_sentence.map((logLikelihood, n) => ({
    logLikelihood,
    paperLogLikelihood: 2 * logLikelihood,
    reconstruction: -logLikelihood / 2,
    tokens: tokens_per_sentence[n]!,
  }));

  test('perplexity is by tokens, not by sentences', () => {
    const { perplexity, perplexity_paper, perplexity_reconstruction, reconstruction } = summarise(given);
    expect(perplexity).toBeCloseTo(corpus_perplexity, 9);
    expect(perplexity_paper / corpus_perplexity ** 2).toBeCloseTo(1, 9);
    expect(perplexity_reconstruction).toBeCloseTo(Math.sqrt(corpus_perplexity), 9);
    expect(reconstruction).toBeCloseTo(-sum(log_likelihood_per_sentence) / 2 / given.length, 9);
    expect(Math.abs(perplexity - fixture.perplexity.mean_of_sentence_perplexities)).toBeGreaterThan(1000);
  });

  const unweighted = (logLikelihood: number) => ({
    logLikelihood,
    paperLogLikelihood: logLikelihood,
    reconstruction: 0,
  });

  /** Sentences of 3 to 30 tokens whose loss a token varies from sentence to sentence. */
  function randomSentences(count: number, random: Random): SentenceEstimate[] {
    return Array.from({ length: count }, () => {
      const tokens = 3 + random.int(28);
      const perToken = 3 + sum(Array.from({ length: 4 }, () => random.next() - 0.5));
      return { ...unweighted(-tokens * perToken), tokens };
    });
  }

  test('their standard error is that of resampled sentences', () => {
    const random = new Random(8);
    const sample = randomSentences(150, random);
    const again = Array.from(
      { length: 2000 },
      () => summarise(sample.map(() => sample[random.int(sample.length)]!)).perplexity,
    );
    const mean = sum(again) / again.length;
    const spread = Math.sqrt(sum(again.map((value) => (value - mean) ** 2)) / again.length);
    const { perplexity, perplexity_error } = summarise(sample);
    expect(spread / perplexity).toBeGreaterThan(0.02);
    expect(perplexity_error / spread).toBeGreaterThan(0.9);
    expect(perplexity_error / spread).toBeLessThan(1.1);
  });

  test('their standard error is nothing where every token costs the same', () => {
    const even = [2, 5, 9].map((tokens) => ({ ...unweighted(-3 * tokens), tokens }));
    expect(summarise(even).perplexity).toBeCloseTo(Math.exp(3), 10);
    expect(summarise(even).perplexity_error).toBeLessThan(1e-12);
  });
});

const K = 4;
/** A range of scores so wide that it bounds none of them. */
const boundless = 1e6;
const tokens = Int32Array.of(1, 3, 4, 5, 6, 2);
const links = f64(digits('0110 1010 1100 0000')).to('float32').keep(); // a triangle, and 3 alone
const otherLinks = f64(digits('1101 1010 0111 1011')).to('float32').keep();
/** Scores that prefer other walks than the decoder does. [1, L, K] */
const someScores = (length: number): Tensor =>
  f64([Array.from({ length }, (_, i) => Array.from({ length: K }, (_, k) => 0.5 * Math.sin(3 * i + k)))]).to(
    'float32',
  );

/** The network's own posterior. */
const ownOf =
  (model: LanguageNetwork): PosteriorOf =>
  (scores, graph) =>
    model.posterior(scores, graph);

function weighted(model: LanguageNetwork, scores: Tensor, graphs: readonly Tensor[], walks: number) {
  const drawn = graphs.map((adjacency) => ({ adjacency, logRatio: 0 }));
  return scope(() =>
    noGrad(() => logWeights(model, { scores, tokens, posterior: ownOf(model) }, drawn, walks)),
  );
}

/** Walks that leave a standard error of a few thousandths of a nat. */
const draws = 50_000;

/** Within 0.02 nats, and within what the spread of the weights themselves allows. */
function expectNear(drawn: LogWeights, truth: number): void {
  const ratios = Array.from(drawn.weights, (weight) => Math.exp(weight - truth));
  const mean = sum(ratios) / ratios.length;
  const variance = sum(ratios.map((ratio) => (ratio - mean) ** 2)) / ratios.length;
  const error = Math.sqrt(variance / ratios.length);
  const gap = Math.abs(sentenceEstimate(drawn, 5).logLikelihood - truth);
  expect(error).toBeLessThan(0.01);
  expect(gap).toBeLessThan(0.02);
  expect(gap).toBeLessThan(4 * error);
}

describe('log p(x|A) against all walks', () => {
  test.each([
    ['graph', {}],
    ['graph', { form: 'symmetric', constant: 1, isolated: 'stay' }],
    ['graph', { range: 1, prior: 'trained' }],
    ['mean-field', {}],
  ] as const)('the estimate with %s walks %j comes near', (posterior, settings) => {
    // The mean field takes steps that are no link, in vain: fewer where there are more links.
    const graph = posterior === 'graph' ? links : otherLinks;
    const model = tinyTrained({ walk: { posterior, ...settings } });
    const truth = Math.log(evidence(model, tokens, graph));
    const drawn = weighted(model, someScores(3), [graph], draws);
    const decoded = drawn.likelihoods;
    expect(Math.max(...decoded) - Math.min(...decoded), 'walks matter').toBeGreaterThan(0.3);
    expectNear(drawn, truth);
    model.free();
  });

  test('the estimate over several graphs is their mean', () => {
    const model = tinyTrained();
    const truth = Math.log((evidence(model, tokens, links) + evidence(model, tokens, otherLinks)) / 2);
    const drawn = weighted(model, someScores(3), [links, otherLinks], draws);
    expect(drawn.weights.length).toBe(2 * draws);
    expectNear(drawn, truth);
    model.free();
  });

  test('every weight is log p(x|A) where walks come from the true posterior', () => {
    const model = tinyTrained({ length: 1 });
    const walks = allWalks(K, 1);
    const graph = new WalkableGraph(links);
    const posterior = scope(() =>
      noGrad(() => {
        const prior = model.walkPrior.on(graph).logProb(walkTensor(walks)).toNumbers();
        return likelihoods(model, tokens, walks).map((value, z) => value + prior[z]!);
      }),
    );
    const { weights } = weighted(model, f64([[posterior]]).to('float32'), [links], 50);
    const truth = Math.log(evidence(model, tokens, links));
    expect(new Set(posterior.map((value) => value.toFixed(3))).size).toBe(K);
    for (const weight of weights) expect(weight).toBeCloseTo(truth, 4);
    model.free();
  });

  test('every weight is log p(x|A) where the symbols say nothing and walks come from the prior', () => {
    const model = tinyTrained({ walk: { range: boundless } });
    noGrad(() => {
      for (const [name, weight] of model.namedParameters()) if (name.includes('.psa.')) weight.mul_(0);
    });
    const { start, weights: logF } = model.walkPrior;
    const scores = noGrad(() => stack([start!, ...logF!.unbind(0)]).unsqueeze(0));
    const truth = Math.log(evidence(model, tokens, links));
    for (const weight of weighted(model, scores, [links], 50).weights) expect(weight).toBeCloseTo(truth, 4);
    model.free();
  });
});

describe('walks drawn less surely as well', () => {
  const wide = (model: LanguageNetwork, scores: Tensor, graphs: readonly Tensor[], walks: number) =>
    scope(() =>
      noGrad(() =>
        wideLogLikelihood(
          model,
          { scores, tokens, posterior: ownOf(model) },
          graphs.map((adjacency) => ({ adjacency, logRatio: 0 })),
          { walks, generator: new Generator(3) },
        ),
      ),
    );

  test.each([
    ['graph', {}],
    ['graph', { form: 'symmetric', constant: 1, isolated: 'stay' }],
    ['graph', { prior: 'trained' }],
    ['mean-field', {}],
  ] as const)('come near log p(x|A) with %s walks %j', (posterior, settings) => {
    const model = tinyTrained({ walk: { posterior, ...settings } });
    const truth = Math.log((evidence(model, tokens, links) + evidence(model, tokens, otherLinks)) / 2);
    expect(Math.abs(wide(model, someScores(3), [links, otherLinks], draws) - truth)).toBeLessThan(0.02);
    model.free();
  });

  test('come near it where q is sure of one walk, which tells nothing of the others', () => {
    const model = tinyTrained({ walk: { range: boundless } });
    const sure = schemaOf(model, [[0, 1, 2]]).mul(60);
    const truth = Math.log(evidence(model, tokens, links));
    const { logLikelihood } = sentenceEstimate(weighted(model, sure, [links], 2000), 5);
    expect(truth - logLikelihood, 'q alone').toBeGreaterThan(0.5);
    expect(Math.abs(wide(model, sure, [links], draws) - truth)).toBeLessThan(0.02);
    model.free();
  });

  test('are no fewer than asked for, in equal shares', () => {
    const model = tinyTrained({ length: 1 });
    const drawn = vi.spyOn(model, 'posterior');
    wide(model, someScores(1), [links], 5);
    expect(drawn.mock.calls.map(([scores]) => scores.dim(0)).filter((count) => count > 1)).toEqual([2, 2, 2]);
    model.free();
  });
});

describe('log p(x) against all graphs and walks (Eq. 34)', () => {
  /** Every graph of three symbols without links to themselves. [3, 3] */
  const everyGraph = Array.from({ length: 8 }, (_, bits) => {
    const [a, b, c] = [bits & 1, (bits >> 1) & 1, (bits >> 2) & 1];
    return f64([
      [0, a, b],
      [a, 0, c],
      [b, c, 0],
    ]).to('float32');
  });
  const settings = {
    symbols: 3,
    graph: { posterior: 'free', selfLoops: false, p: 0.3 },
    walk: { isolated: 'stay' },
  } as const;
  const scores = someScores(3).narrow(2, 0, 3).keep();

  test('with each graph’s weight the estimate comes near, without it near the mean over q(A)', () => {
    const model = tinyTrained(settings);
    const logPrior = (graph: Tensor) => {
      const present = graph.sum().item() / 2;
      return present * Math.log(0.3) + (3 - present) * Math.log(0.7);
    };
    const each = everyGraph.map((graph) => evidence(model, tokens, graph));
    const logPosterior = everyGraph.map((graph) =>
      scope(() => noGrad(() => model.graph.links().logProb(graph).item())),
    );
    const exact = Math.log(sum(each.map((value, g) => value * Math.exp(logPrior(everyGraph[g]!)))));
    const shared = Math.log(sum(each.map((value, g) => value * Math.exp(logPosterior[g]!))));
    const graphs = sampledGraphs(model, 500);
    const drawn = scope(() =>
      noGrad(() => logWeights(model, { scores, tokens, posterior: ownOf(model) }, graphs, 20)),
    );
    const { logLikelihood, paperLogLikelihood } = sentenceEstimate(drawn, 5);
    for (const { adjacency, logRatio } of graphs.slice(0, 20)) {
      const g = everyGraph.findIndex((graph) => graph.sub(adjacency).abs().sum().item() === 0);
      expect(logRatio).toBeCloseTo(logPrior(everyGraph[g]!) - logPosterior[g]!, 5);
    }
    expect(Math.abs(exact - shared), 'graphs matter').toBeGreaterThan(0.01);
    expect(Math.abs(paperLogLikelihood - exact)).toBeLessThan(0.005);
    expect(Math.abs(logLikelihood - shared)).toBeLessThan(0.005);
    model.free();
  });
});

describe('distinct walks', () => {
  test('are decoded once, and each draw has its own walk’s likelihood', () => {
    const model = tinyTrained();
    const nll = vi.spyOn(model.decoder, 'nll');
    const state = model.generator.state();
    const drawn = weighted(model, someScores(3), [links, otherLinks], 300);
    const decoded = nll.mock.calls.map(([ids]) => ids.shape[0]!);
    nll.mockRestore();
    const walks = redrawn(model, state, 300);
    const distinct = [...new Set(walks.map((walk) => walk.join()))].map((key) => key.split(',').map(Number));
    expect(distinct.length).toBeLessThan(65);
    expect(sum(decoded)).toBe(distinct.length);
    expect(decoded.length).toBe(Math.ceil(distinct.length / 64));
    const table = scope(() => noGrad(() => likelihoods(model, tokens, distinct)));
    const of = new Map(distinct.map((walk, z) => [walk.join(), table[z]!]));
    for (const [i, walk] of walks.entries())
      expect(drawn.likelihoods[i]!).toBeCloseTo(of.get(walk.join())!, 4);
    model.free();
  });

  /** The same walks again, graph by graph. */
  function redrawn(model: LanguageNetwork, state: Uint8Array, count: number): number[][] {
    model.generator.restore(state);
    return [links, otherLinks].flatMap((adjacency) =>
      scope(() =>
        noGrad(() => {
          const scores = someScores(3).expand(count, -1, -1);
          const nodes = model.posterior(scores, new WalkableGraph(adjacency)).sampleNodes(model.generator);
          return nodes.unbind(0).map((walk) => walk.toNumbers());
        }),
      ),
    );
  }

  test('more than fit at once are decoded in parts', () => {
    const model = tinyTrained({ length: 4 });
    const nll = vi.spyOn(model.decoder, 'nll');
    const complete = f64(digits('1111 1111 1111 1111')).to('float32');
    const drawn = weighted(model, someScores(4).mul(0), [complete], draws);
    const sizes = nll.mock.calls.map(([ids]) => ids.shape[0]!);
    nll.mockRestore();
    expect(sum(sizes)).toBe(256);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(64);
    const truth = Math.log(evidence(model, tokens, complete));
    expectNear(drawn, truth);
    model.free();
  });

  test('a certain posterior is decoded once for all draws', () => {
    const model = tinyTrained({ walk: { range: boundless } });
    const nll = vi.spyOn(model.decoder, 'nll');
    const certain = schemaOf(model, [[0, 1, 2]]).mul(60);
    weighted(model, certain, [links, links, links], 100);
    expect(nll.mock.calls.map(([ids]) => ids.shape[0])).toEqual([1]);
    model.free();
  });
});
