import { UserError } from '@hidden-schema/base';
import { mostLikelyGraph } from '@hidden-schema/studies';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyConfig, tinyCorpus } from '@hidden-schema/testing/tiny-corpus';
import { liveTensors } from '@hidden-schema/torch';
import { afterAll, describe, expect, test } from 'vitest';
import { edgeCount } from '../src/tasks/synthetic/corpus/graphs.ts';
import { graphRecovery } from '../src/tasks/synthetic/evaluation.ts';
import { sweepUntilSettled } from '../src/tasks/synthetic/graph-sweeps.ts';
import { SyntheticTask } from '../src/tasks/synthetic/task.ts';
import { checkTrainable, modelShape } from '../src/tasks/synthetic/training.ts';

const folder = temporaryFolder('trainer');
afterAll(folder.remove);
const corpus = tinyCorpus(folder.path('tiny'));

const weights = (task: SyntheticTask) =>
  [...task.model.namedParameters()].map(([, tensor]) => tensor.toNumbers());

describe('training', () => {
  test('lowers the objective, with all terms in every step', () => {
    const task = new SyntheticTask(tinyConfig({ training: { steps: 60, rate: 0.01 } }), corpus);
    task.sweepGraph();
    const before = task.trainer.validate();
    const steps = [];
    while (!task.trainer.finished) steps.push(task.trainer.trainStep());
    expect(steps.map(({ step }) => step)).toEqual(Array.from({ length: 60 }, (_, i) => i + 1));
    expect(steps.at(-1)!.epoch).toBe(14);
    expect(task.trainer.validate()).toBeLessThan(0.6 * before);
    const { loss, reconstruction, kl_walk, kl_graph, teacher } = steps[9]!;
    expect(loss).toBeCloseTo(reconstruction + kl_walk! + kl_graph! / corpus.splits.train.count + teacher!, 4);
    task.trainer.free();
  });

  test('follows from the seed alone', () => {
    const run = (seed: number) => {
      const task = new SyntheticTask(tinyConfig({ seed, graph: { posterior: 'pairs' } }), corpus);
      const losses = [1, 2, 3].map(() => task.trainer.trainStep().loss);
      task.trainer.free();
      return losses;
    };
    expect(run(1)).toEqual(run(1));
    expect(run(1)).not.toEqual(run(2));
  });

  test('a validation leaves the draws of training as they were', () => {
    const run = (look: boolean) => {
      const task = new SyntheticTask(tinyConfig({ walk: { expectation: 'sampled' } }), corpus);
      const losses = [1, 2, 3].map(() => {
        if (look) task.trainer.validate();
        return task.trainer.trainStep().loss;
      });
      task.trainer.free();
      return losses;
    };
    expect(run(true)).toEqual(run(false));
  });

  test('has rates of its own for the graph, and follows the schedule', () => {
    const training = { steps: 10, warmup: 1, rate: 1e-9, graphRate: 0.1, schedule: 'linear' } as const;
    const task = new SyntheticTask(tinyConfig({ graph: { posterior: 'free' }, training }), corpus);
    const start = task.model.graph.links().logits.toNumbers();
    const rates = [1, 2, 3].map(() => task.trainer.trainStep().rate);
    const moved = task.model.graph
      .links()
      .logits.toNumbers()
      .map((value, i) => Math.abs(value - start[i]!));
    expect(rates).toEqual([0.5e-9, 1e-9, (8 / 9) * 1e-9].map((rate) => expect.closeTo(rate, 15)));
    expect(Math.max(...moved)).toBeGreaterThan(0.1);
    task.trainer.free();
  });
});

describe('a number gone wrong', () => {
  test('stops before the update, with the term and the batch', () => {
    const task = new SyntheticTask(tinyConfig({ training: { rate: 1e30, warmup: 0, steps: 100 } }), corpus);
    task.trainer.trainStep();
    const before = weights(task);
    const updates = [...task.trainer.optimizer.counts];
    let fault: unknown;
    try {
      task.trainer.trainStep();
    } catch (error) {
      fault = error;
    }
    expect(fault).toBeInstanceOf(UserError);
    expect((fault as Error).message).toMatch(
      /^step 2 \(epoch 0, batch 1\): (loss|reconstruction|kl_walk|teacher|gradient_norm) is (NaN|-?Infinity); the weights of the step before are kept/,
    );
    expect(weights(task)).toEqual(before);
    expect(task.trainer.optimizer.counts).toEqual(updates);
    task.trainer.free();
  });
});

describe('memory', () => {
  test.each(['closed-form', 'pairs'] as const)('stays flat over 200 steps (%s)', (posterior) => {
    const expectation = posterior === 'pairs' ? 'sampled' : 'exact';
    const task = new SyntheticTask(
      tinyConfig({ graph: { posterior }, walk: { expectation }, training: { steps: 1000 } }),
      corpus,
    );
    for (let i = 0; i < 20; i++) task.trainer.trainStep();
    const { tensors, bytes } = liveTensors();
    const resident = process.memoryUsage.rss();
    for (let i = 0; i < 200; i++) task.trainer.trainStep();
    task.trainer.validate();
    expect(liveTensors()).toEqual({ tensors, bytes });
    expect(process.memoryUsage.rss() - resident).toBeLessThan(40e6);
    task.trainer.free();
    expect(liveTensors().tensors).toBeLessThan(tensors);
  });
});

describe('the hidden graph', () => {
  const twelve = { nodes: 12, graphOptions: { attach: 2 }, length: 8, sentences: 3000 };
  const config = tinyConfig({});

  test('is found exactly where bags share tokens', () => {
    const shared = tinyCorpus(folder.path('shared'), { ...twelve, tokens: 15 });
    const task = new SyntheticTask(config, shared);
    let sweeps = 0;
    sweepUntilSettled(task, config.graph.sweeps, () => sweeps++);
    expect(sweeps).toBeGreaterThan(1);
    expect(sweeps).toBeLessThan(config.graph.sweeps);
    expect(mostLikelyGraph(task.model)).toEqual(shared.truth);
    const { auc, frobenius_truth, edges_truth } = graphRecovery(task.model, shared);
    expect(auc).toBe(1);
    expect(frobenius_truth).toBeLessThan(0.05);
    expect(edges_truth).toBe(edgeCount(shared.truth!));
    // Training does not lose it again.
    for (let i = 0; i < 10; i++) task.trainer.trainStep();
    expect(mostLikelyGraph(task.model)).toEqual(shared.truth);
    task.trainer.free();
  });

  test('is found in one sweep where they do not', () => {
    const disjoint = tinyCorpus(folder.path('disjoint'), { ...twelve, tokens: 24, disjoint: true });
    const task = new SyntheticTask(config, disjoint);
    expect(mostLikelyGraph(task.model)).not.toEqual(disjoint.truth);
    task.sweepGraph();
    expect(mostLikelyGraph(task.model)).toEqual(disjoint.truth);
    task.trainer.free();
  });
});

describe('what a model takes from the corpus', () => {
  test('are its sizes', () => {
    expect(modelShape(tinyConfig(), corpus)).toEqual({
      symbols: 8,
      vocabulary: corpus.vocabulary.length,
      length: 5,
      sentences: 280,
      bags: corpus.bags!.probabilities,
    });
  });

  test.each([
    [{ symbols: 5 }, 'symbols is 5, but the corpus gives bags of tokens for 8 symbols'],
    [{ length: 9 }, 'length is 9, but the sentences have 5 tokens, one for each step: leave length out'],
    [{ encoder: { width: 15 } }, 'encoder.width is 15: expected a multiple of encoder.heads, 2'],
  ])('%j is refused', (changes, message) => {
    expect(() => checkTrainable(tinyConfig(changes), corpus)).toThrow(message);
  });

  test('a split without sentences is refused', () => {
    const { bags: _, ...rest } = corpus;
    const none = { count: 0, tokens: new Int32Array() };
    const empty = { ...corpus, splits: { ...corpus.splits, valid: none } };
    expect(() => new SyntheticTask(tinyConfig(), empty)).toThrow('has no sentences in valid.txt');
    expect(() => checkTrainable(tinyConfig(), rest)).toThrow('say how many with --set symbols=50');
  });
});
