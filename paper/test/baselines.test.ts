import { edgeCount } from '@hidden-schema/hsn/tasks/synthetic/corpus/graphs';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyCorpus } from '@hidden-schema/testing/tiny-corpus';
import { Generator } from '@hidden-schema/torch/random';
import { afterAll, describe, expect, test } from 'vitest';
import { baumWelch } from '../src/baselines/baum-welch.ts';
import { countPairs } from '../src/baselines/counting.ts';
import { linksFromTraversals } from '../src/baselines/links.ts';
import { LstmBaseline, trainLstmBaseline } from '../src/baselines/lstm.ts';

const folder = temporaryFolder('baselines');
afterAll(folder.remove);
const twelve = { nodes: 12, graphOptions: { attach: 2 }, length: 8, sentences: 4000 };
const disjoint = tinyCorpus(folder.path('disjoint'), { ...twelve, tokens: 24, disjoint: true });
const shared = tinyCorpus(folder.path('shared'), { ...twelve, tokens: 15 });
const options = { iterations: 60, limit: 20_000, tolerance: 1e-3, noise: 1e-3 };

describe('scores of links', () => {
  test('add both directions, and leave out loops', () => {
    const { scores, links } = linksFromTraversals([9, 0.2, 0, 0.3, 9, 0.1, 0, 0, 9], 3, 0.5);
    expect([...scores]).toEqual([0, 0.5, 0, 0.5, 0, 0.1, 0, 0.1, 0]);
    expect([...links]).toEqual([0, 1, 0, 1, 0, 0, 0, 0, 0]);
  });
});

describe('counting of pairs', () => {
  test('is exact where bags are disjoint', () => {
    const { links, scores } = countPairs(disjoint.splits.train, disjoint.length, disjoint.bags!);
    expect(links).toEqual(disjoint.truth!.data);
    const sum = scores.reduce((total, score) => total + score, 0);
    expect(sum / 2).toBeCloseTo(disjoint.splits.train.count * 7, 6);
  });

  test('calls links that are none where they share tokens', () => {
    const { links } = countPairs(shared.splits.train, shared.length, shared.bags!);
    const truth = shared.truth!;
    expect(edgeCount({ nodes: 12, data: links })).toBeGreaterThan(edgeCount(truth));
    for (const [at, link] of truth.data.entries()) if (link) expect(links[at]).toBe(1);
  });
});

describe('Baum-Welch', () => {
  test('finds a graph behind shared tokens exactly, and its likelihood never falls', () => {
    const course: number[] = [];
    const { links, logLikelihood } = baumWelch(shared.splits.train, shared.length, shared.bags!, {
      ...options,
      tolerance: 1e-5,
      onIteration: (_, value) => course.push(value),
    });
    expect(links).toEqual(shared.truth!.data);
    expect(course.length).toBeGreaterThan(3);
    for (let i = 1; i < course.length; i++) expect(course[i]!).toBeGreaterThan(course[i - 1]! - 1e-4);
    expect(course.at(-1)! - course[0]!).toBeGreaterThan(0.5);
    expect(logLikelihood).toBe(course.at(-1));
  });

  test('uses no more sentences than it is told to', () => {
    const few = { ...shared.splits.train, count: 50 };
    const told = baumWelch(shared.splits.train, shared.length, shared.bags!, { ...options, limit: 50 });
    expect(baumWelch(few, shared.length, shared.bags!, options)).toEqual(told);
  });

  test('bears a symbol that no sentence uses', () => {
    const { nodes, probabilities } = disjoint.bags!;
    const V = disjoint.vocabulary.length;
    // A thirteenth symbol with a token of its own, which is never written.
    const wider = new Float64Array((nodes + 1) * (V + 1));
    for (let k = 0; k < nodes; k++) wider.set(probabilities.subarray(k * V, (k + 1) * V), k * (V + 1));
    wider[nodes * (V + 1) + V] = 1;
    const bags = { nodes: nodes + 1, probabilities: wider };
    const { links, logLikelihood } = baumWelch(disjoint.splits.train, disjoint.length, bags, {
      ...options,
      iterations: 40,
      tolerance: Number.NEGATIVE_INFINITY,
    });
    expect(Number.isFinite(logLikelihood)).toBe(true);
    const edges = edgeCount({ nodes: nodes + 1, data: links });
    expect(edges).toBe(edgeCount(disjoint.truth!));
  });
});

describe('the LSTM', () => {
  test('comes near the floor of both likelihoods', () => {
    const { bags, vocabulary, length } = disjoint;
    const losses: number[] = [];
    const figures = trainLstmBaseline(disjoint, {
      hidden: 24,
      steps: 150,
      batch: 64,
      rate: 0.01,
      seed: 1,
      noise: 1e-3,
      onStep: (_, loss) => losses.push(loss),
    });
    const floor = length * Math.LN2;
    const authors = length * (Math.log(vocabulary.length + 4 + 2 * (Math.exp(0.5) - 1)) - 0.5);
    expect(bags!.nodes).toBe(12);
    expect(losses[0]).toBeGreaterThan(2 * floor);
    expect(figures.nll).toBeGreaterThan(floor - 0.01);
    expect(figures.nll).toBeLessThan(1.1 * floor);
    expect(figures.nll_authors).toBeGreaterThan(authors - 1e-4);
    expect(figures.nll_authors).toBeLessThan(authors + 0.2);
  });

  test('needs bags', () => {
    const { bags: _, ...rest } = disjoint;
    const sizes = { hidden: 4, steps: 1, batch: 4, rate: 0.1, seed: 1, noise: 0.1 };
    expect(() => new LstmBaseline(rest, sizes, new Generator(1))).toThrow('needs the bags of tokens');
  });
});
