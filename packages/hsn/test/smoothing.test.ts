import { digits, expectClose, f64, sum } from '@hidden-schema/testing/closeness';
import { allWalks, walkProbability } from '@hidden-schema/testing/enumeration';
import { Generator, type Tensor } from '@hidden-schema/torch';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WalkDistribution } from '../src/walk/chain.ts';
import { WalkPrior } from '../src/walk/processes.ts';
import { smoothWalks } from '../src/walk/smoothing.ts';
import { WalkableGraph } from '../src/walk/walkable-graph.ts';

const [K, L] = [4, 4];
const walks = allWalks(K, L);

interface Listed {
  marginals: number[][]; // [L][K]
  /** Probability of each traversal at each step. [L][K][K] */
  steps: number[][][];
  likelihood: number;
}

/** One sentence's posterior by weighing every walk with its likelihood. */
function enumerate(start: number[], matrix: number[][], emission: number[][]): Listed {
  const joint = walks.map(
    (walk) =>
      walkProbability(walk, start, [matrix, matrix, matrix]) *
      walk.reduce((p, k, i) => p * emission[i]![k]!, 1),
  );
  const likelihood = sum(joint);
  const marginals = Array.from({ length: L }, () => new Array<number>(K).fill(0));
  const steps = Array.from({ length: L }, () =>
    Array.from({ length: K }, () => new Array<number>(K).fill(0)),
  );
  for (const [w, walk] of walks.entries()) {
    const weight = joint[w]! / likelihood;
    for (const [i, k] of walk.entries()) {
      marginals[i]![k]! += weight;
      if (i > 0) steps[i]![walk[i - 1]!]![k]! += weight;
    }
  }
  return { marginals, steps, likelihood };
}

const positive = fc.double({ min: 0.01, max: 1, noNaN: true });
const arrays = <T>(element: fc.Arbitrary<T>, length: number) =>
  fc.array(element, { minLength: length, maxLength: length });
const normalised = (row: number[]) => row.map((value) => value / sum(row));
const row = arrays(positive, K).map(normalised);

function check(start: number[], matrix: number[][], sentences: number[][][]): void {
  const emissions = Array.from({ length: L }, (_, i) => f64(sentences.map((emission) => emission[i]!)));
  const smoothed = smoothWalks(f64(start), f64(matrix), emissions);
  const listed = sentences.map((emission) => enumerate(start, matrix, emission));
  const mean = (of: (one: Listed) => number) => sum(listed.map(of)) / listed.length;
  for (let i = 0; i < L; i++)
    expectClose(
      smoothed.marginals[i]!,
      listed.map((one) => one.marginals[i]!),
      1e-10,
      `marginals of step ${i}`,
    );
  const overSteps = (power: number) =>
    matrix.map((_, j) =>
      matrix.map((_, k) => mean((one) => sum(one.steps.map((step) => step[j]![k]! ** power)))),
    );
  expectClose(smoothed.traversals, overSteps(1), 1e-10, 'traversals');
  expectClose(smoothed.certainty, overSteps(2), 1e-10, 'certainty');
  expectClose(
    smoothed.start,
    start.map((_, k) => mean((one) => one.marginals[0]![k]!)),
    1e-10,
    'start',
  );
  expectClose(
    smoothed.logLikelihood,
    listed.map((one) => Math.log(one.likelihood)),
    1e-10,
    'likelihood',
  );
}

describe('forward-backward equals listing all walks', () => {
  test('any start, transitions and emissions', () => {
    fc.assert(fc.property(row, arrays(row, K), arrays(arrays(arrays(positive, K), L), 3), check), {
      numRuns: 40,
    });
  });

  test('missing links, directed, and emissions that rule nodes out', () => {
    const matrix = [
      [0, 1, 0, 0],
      [0.5, 0, 0.5, 0],
      [0, 0.2, 0.3, 0.5],
      [0, 0, 1, 0],
    ];
    const certain = digits('1000 0100 1010 1111');
    const vague = [
      [0.5, 0.5, 0, 0],
      [0, 0.1, 0.9, 0],
      [0.3, 0.3, 0.3, 0.1],
      [0, 0, 1, 1],
    ];
    check([0.4, 0.3, 0.2, 0.1], matrix, [certain, vague]);
  });

  test('one traversal less than nodes in each sentence, and a single node is a sentence too', () => {
    const flat = f64([normalised([1, 2, 3, 4])]).expand(K, K);
    const emissions = (length: number): Tensor[] => Array.from({ length }, () => f64([[0.1, 0.2, 0.3, 0.4]]));
    expectClose(smoothWalks(f64(normalised([1, 1, 1, 1])), flat, emissions(7)).traversals.sum(), 6, 1e-12);
    const single = smoothWalks(f64([0.25, 0.25, 0.25, 0.25]), flat, emissions(1));
    expectClose(single.marginals[0]!, [0.1, 0.2, 0.3, 0.4], 1e-12);
    expect(single.traversals.sum().item()).toBe(0);
  });

  test('long sentences with faint emissions do not underflow', () => {
    const emissions = Array.from({ length: 200 }, () => f64([[1e-30, 2e-30, 1e-30, 4e-30]]));
    const matrix = f64([0, 1, 2, 3].map(() => [0.25, 0.25, 0.25, 0.25]));
    const smoothed = smoothWalks(f64([0.25, 0.25, 0.25, 0.25]), matrix, emissions);
    expectClose(smoothed.logLikelihood, 200 * Math.log(2e-30), 1e-7);
    expectClose(smoothed.marginals[100]!, [0.125, 0.25, 0.125, 0.5], 1e-12);
  });

  test('a sentence that no walk explains counts for nothing', () => {
    const matrix = f64(digits('0100 1000 0001 0010'));
    const start = f64([0.25, 0.25, 0.25, 0.25]);
    const here = [
      [1, 0, 0, 0],
      [0, 1, 0, 0],
      [1, 1, 1, 1],
      [1, 1, 1, 1],
    ];
    const nowhere = [
      [1, 1, 1, 1],
      [1, 0, 0, 0],
      [1, 0, 0, 1],
      [1, 1, 1, 1],
    ];
    const unknown = [
      [0, 0, 0, 0],
      [1, 1, 1, 1],
      [1, 1, 1, 1],
      [1, 1, 1, 1],
    ];
    const smooth = (batch: number[][][]) =>
      smoothWalks(
        start,
        matrix,
        here.map((_, i) => f64(batch.map((emission) => emission[i]!))),
      );
    const all = smooth([here, nowhere, unknown]);
    expect(all.logLikelihood.toNumbers().slice(1)).toEqual([-Infinity, -Infinity]);
    expectClose(all.traversals.mul(3), smooth([here]).traversals, 1e-12);
    expectClose(all.start.mul(3), smooth([here]).start, 1e-12);
  });

  test('is a bound that walks of the prior reach: log p(x) of a uniform walk', () => {
    const links = digits('0110 1010 1101 0010');
    const graph = new WalkableGraph(f64(links));
    const prior = new WalkPrior('uniform', { nodes: K, length: L }, new Generator(0), {
      dtype: 'float64',
    }).on(graph);
    const emission = [
      [0.1, 0.5, 0.2, 0.3],
      [0.9, 0.1, 0.4, 0.2],
      [0.3, 0.3, 0.2, 0.8],
      [0.6, 0.2, 0.1, 0.1],
    ];
    const smoothed = smoothWalks(
      prior.logStart.exp().squeeze(0),
      graph.rows,
      emission.map((e) => f64([e])),
    );
    const posterior = WalkDistribution.fromScores(graph, f64([emission.map((e) => e.map(Math.log))]));
    const expected = sum(
      posterior.marginals().map((m, i) =>
        m
          .mul(f64(emission[i]!.map(Math.log)))
          .sum()
          .item(),
      ),
    );
    const bound = expected - posterior.kl(prior).item();
    expect(bound).toBeLessThan(smoothed.logLikelihood.item());
    expect(bound).toBeGreaterThan(smoothed.logLikelihood.item() - 1);
  });
});
