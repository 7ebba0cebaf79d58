import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyConfig, tinyCorpus } from '@hidden-schema/testing/tiny-corpus';
import { noGrad, scope, Tensor } from '@hidden-schema/torch';
import { afterAll, describe, expect, test } from 'vitest';
import { linkProbabilities } from '../src/graph/likely.ts';
import { graphKl, objective, walkKl } from '../src/objective/objective.ts';
import type { SyntheticCorpus } from '../src/tasks/synthetic/corpus/reader.ts';
import {
  evaluateSynthetic,
  graphRecovery,
  sampledGraph,
  validationLoss,
} from '../src/tasks/synthetic/evaluation.ts';
import { sweepUntilSettled } from '../src/tasks/synthetic/graph-sweeps.ts';
import { tokensFrom } from '../src/tasks/synthetic/network.ts';
import { SyntheticTask } from '../src/tasks/synthetic/task.ts';

const folder = temporaryFolder('evaluation');
afterAll(folder.remove);

// 1200 test sentences: three chunks, the last of another size. The Bernoulli prior has no cost of its own.
const corpus = tinyCorpus(folder.path('corpus'), { sentences: 2000, split: [20, 20, 60] });
const config = tinyConfig({ graph: { prior: 'bernoulli' }, training: { steps: 30, rate: 0.01 } });
const task = new SyntheticTask(config, corpus);
sweepUntilSettled(task, 100);
while (!task.trainer.finished) task.trainer.trainStep();
const { model } = task;
afterAll(() => task.trainer.free());

/** Figures of the first sentences in one go, on the one graph that q(A) leaves possible. */
function byHand(on: SyntheticCorpus, count: number) {
  return scope(() =>
    noGrad(() => {
      model.train(false);
      const tokens = tokensFrom(on.splits.test, on.length, 0, count);
      const graph = sampledGraph(model);
      const posterior = model.encode({ tokens }, graph);
      const marginals = posterior.marginals();
      const prior = model.walkPrior.on(graph);
      const nodes = marginals.map((step) => step.argmax(-1).toNumbers());
      const right = nodes.flatMap((step, i) =>
        step.filter((node, n) => node === on.splits.test.walks![n * on.length + i]),
      );
      const options = { ...model.objectiveOptions(count), kind: 'information' as const };
      return {
        nll: -model.decoder.expectedLog(tokens, marginals).mean().item(),
        nll_authors: -model.decoder.authorsExpectedLog(tokens, marginals).mean().item(),
        kl_walk: walkKl(posterior, prior, options).item(),
        kl_walk_sentence: posterior.kl(prior).mean().item(),
        kl_graph: graphKl(model.graph.links(), model.graphPrior).item(),
        hits: right.length / (count * on.length),
      };
    }),
  );
}

describe('an evaluation', () => {
  test('has the figures of the paper under their names', () => {
    const keys = [
      ...['auc', 'average_precision', 'frobenius_truth', 'frobenius_random', 'frobenius_truth_sampled'],
      ...['frobenius_random_sampled', 'edges_sampled', 'edges_expected', 'edges_truth', 'nll', 'nll_authors'],
      ...['kl_walk', 'kl_graph', 'hits', 'edges_walked', 'kl_walk_sentence', 'sentences'],
    ];
    const evaluation = evaluateSynthetic(model, corpus);
    expect(Object.keys(evaluation).sort()).toEqual(keys.sort());
    for (const [key, value] of Object.entries(evaluation)) expect(Number.isFinite(value), key).toBe(true);
    expect(evaluation.sentences).toBe(1200);
    expect(evaluation.auc).toBe(1);
    expect(evaluation.edges_walked).toBeLessThanOrEqual(evaluation.edges_truth!);
    expect(evaluation.edges_walked).toBeGreaterThan(0.8 * evaluation.edges_truth!);
    expect(evaluation.hits).toBeGreaterThan(0.5);
  });

  test('is the same in one go and in chunks', () => {
    const { nll, nll_authors, kl_walk_sentence, hits } = byHand(corpus, 1200);
    const all = evaluateSynthetic(model, corpus);
    expect(all.nll).toBeCloseTo(nll, 4);
    expect(all.nll_authors).toBeCloseTo(nll_authors, 4);
    expect(all.kl_walk_sentence).toBeCloseTo(kl_walk_sentence, 4);
    expect(all.hits).toBeCloseTo(hits, 10);
  });

  test('with a limit reads only so many sentences', () => {
    const few = evaluateSynthetic(model, corpus, { limit: 100 });
    const hand = byHand(corpus, 100);
    expect(few.sentences).toBe(100);
    for (const [key, value] of Object.entries(hand))
      expect(few[key as keyof typeof hand], key).toBeCloseTo(value, 4);
  });

  test('depends on its seed and the weights, not on what was drawn before', () => {
    const soft = new SyntheticTask(tinyConfig({ graph: { posterior: 'free', p: 0.5 } }), corpus);
    const first = evaluateSynthetic(soft.model, corpus, { limit: 100 });
    const state = soft.model.generator.state();
    scope(() => sampledGraph(soft.model));
    expect(soft.model.generator.state()).not.toEqual(state);
    const moved = soft.model.generator.state();
    expect(evaluateSynthetic(soft.model, corpus, { limit: 100 })).toEqual(first);
    expect(soft.model.generator.state()).toEqual(moved);
    expect(evaluateSynthetic(soft.model, corpus, { limit: 100, seed: 8 })).not.toEqual(first);
    soft.trainer.free();
  });

  test('refuses an empty test split in one line', () => {
    const none = { count: 0, tokens: new Int32Array() };
    const empty = { ...corpus, splits: { ...corpus.splits, test: none } };
    expect(() => evaluateSynthetic(model, empty)).toThrow(`${corpus.directory} has no test sentences`);
  });
});

describe('the validation objective', () => {
  test('is the loss on the validation split, without dropout and at full weight', () => {
    const expected = scope(() =>
      noGrad(() => {
        model.train(false);
        const tokens = tokensFrom(corpus.splits.valid, corpus.length, 0, 400);
        const graph = sampledGraph(model);
        const posterior = model.encode({ tokens }, graph);
        const marginals = posterior.marginals();
        const logLikelihood = model.decoder.expectedLog(tokens, marginals);
        const links = model.graph.links();
        const parts = {
          logLikelihood,
          posterior,
          links,
          walkPrior: model.walkPrior.on(graph),
          graphPrior: model.graphPrior,
        };
        return objective(parts, 1, model.objectiveOptions(400)).loss.item();
      }),
    );
    expect(validationLoss(model, corpus)).toBeCloseTo(expected, 4);
    const limited = validationLoss(model, corpus, 50);
    expect(Math.abs(limited - expected)).toBeGreaterThan(1e-4);
  });
});

describe('recovery', () => {
  test('compares link probabilities of pairs', () => {
    const links = linkProbabilities(model);
    expect(links).toHaveLength(64);
    for (let i = 0; i < 8; i++) {
      expect(links[i * 8 + i]).toBe(0);
      for (let j = 0; j < 8; j++) expect(links[i * 8 + j]).toBe(links[j * 8 + i]);
    }
    const { edges_expected, edges_truth } = graphRecovery(model, corpus);
    expect(edges_expected).toBeCloseTo(edges_truth!, 1);
  });

  test('is left out without truth or without bags', () => {
    const { truth: _, ...blind } = corpus;
    const { bags: __, ...unnamed } = corpus;
    expect(graphRecovery(model, blind)).toEqual({});
    expect(graphRecovery(model, unnamed)).toEqual({});
  });
});

test('tokens of a batch are those of their rows', () => {
  scope(() => {
    const tokens = tokensFrom(corpus.splits.test, 5, 1198, 500);
    expect(tokens.shape).toEqual([2, 5]);
    expect(tokens).toBeInstanceOf(Tensor);
    expect(tokens.toNumbers()).toEqual([...corpus.splits.test.tokens.subarray(1198 * 5)]);
  });
});
