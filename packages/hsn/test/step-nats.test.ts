import { expectClose, f64, sum } from '@hidden-schema/testing/closeness';
import { allWalks, walkTensor } from '@hidden-schema/testing/enumeration';
import { likelihoods, tinyTrained } from '@hidden-schema/testing/tiny-language';
import { Generator, noGrad, scope, type Tensor } from '@hidden-schema/torch';
import { describe, expect, test } from 'vitest';
import { cutLogLikelihoods, stepNats, withAlone } from '../src/tasks/language/perplexity.ts';
import { WalkDistribution } from '../src/walk/chain.ts';
import { MeanFieldWalks } from '../src/walk/mean-field.ts';
import type { WalkPosterior } from '../src/walk/posterior.ts';
import { WalkPrior } from '../src/walk/processes.ts';
import { WalkableGraph } from '../src/walk/walkable-graph.ts';

const [K, L] = [3, 4];
const links = [
  [1, 1, 0],
  [1, 1, 1],
  [0, 1, 1],
];

/** KL of the first i steps by listing every beginning of a walk, i = 1 … L. */
function klOfBeginnings(posterior: WalkPosterior, prior: WalkDistribution): number[] {
  const walks = allWalks(K, L);
  const probabilities = (of: { logProb(walks: Tensor): Tensor }) =>
    walks.map((walk) => Math.exp(of.logProb(walkTensor([walk])).item()));
  const [q, p] = [probabilities(posterior), probabilities(prior)];
  return Array.from({ length: L }, (_, i) => {
    const mass = new Map<string, [number, number]>();
    for (const [n, walk] of walks.entries()) {
      const key = walk.slice(0, i + 1).join(' ');
      const [a, b] = mass.get(key) ?? [0, 0];
      mass.set(key, [a + q[n]!, b + p[n]!]);
    }
    return sum([...mass.values()].map(([a, b]) => (a > 0 ? a * Math.log(a / b) : 0)));
  });
}

describe('nats of each step', () => {
  const generator = new Generator(3);
  const graph = new WalkableGraph(f64(links), 'stay');
  const prior = new WalkPrior('inhomogeneous', { nodes: K, length: L, stays: true }, generator, {
    dtype: 'float64',
  });
  noGrad(() => {
    for (const parameter of prior.parameters()) parameter.add_(parameter.mul(40).add(0.3));
  });
  const scores = f64([
    [
      [0.2, 1.1, -0.4],
      [0.9, -0.2, 0.3],
      [-1, 0.4, 0.8],
      [0.1, 0.6, -0.7],
    ],
  ]);

  test('are what one step more of the walk diverges, by listing all walks', () => {
    const q = WalkDistribution.fromScores(graph, scores);
    const p = prior.on(graph);
    const beginnings = klOfBeginnings(q, p);
    const steps = q.stepKls(p).map((step) => step.item());
    expect(steps).toHaveLength(L);
    for (const [i, step] of steps.entries())
      expect(step, `step ${i + 1}`).toBeCloseTo(beginnings[i]! - (beginnings[i - 1] ?? 0), 10);
    expectClose(q.kl(p), [beginnings.at(-1)!], 1e-10);
  });

  test('add up to the divergence without a graph too', () => {
    const all = new WalkableGraph(f64(links.map((row) => row.map(() => 1))), 'stay');
    const [q, p] = [new MeanFieldWalks(scores), prior.on(all)];
    const beginnings = klOfBeginnings(q, p);
    for (const [i, step] of q.stepKls(p).entries())
      expect(step.item(), `step ${i + 1}`).toBeCloseTo(beginnings[i]! - (beginnings[i - 1] ?? 0), 10);
  });

  test('are gained by what the decoder makes of walks that end after each step', () => {
    const model = tinyTrained({ walk: { stays: true }, graph: { selfLoops: true } });
    const tokens = Int32Array.from([1, 4, 7, 2]);
    const mean = (walks: number[][]) =>
      scope(() => noGrad(() => sum(likelihoods(model, tokens, walks)) / walks.length));
    const draws = [
      [0, 1, 3],
      [2, 2, 2],
    ];
    const cut = scope(() => noGrad(() => cutLogLikelihoods(model, draws, tokens)));
    const ends = [
      [
        [0, 0, 0],
        [2, 2, 2],
      ],
      [
        [0, 1, 1],
        [2, 2, 2],
      ],
      draws,
    ];
    for (const [i, walks] of ends.entries()) expect(cut[i]).toBeCloseTo(mean(walks), 5);
    const alone = cut[2]! - 2;
    const steps = withAlone(stepNats([3, 1, 0.1], cut), 2);
    expect(steps.map(({ paid }) => paid)).toEqual([3, 1, 0.1]);
    expect(steps[0]!.gained).toBeCloseTo(cut[0]! - alone, 10);
    expect(steps[2]!.gained).toBeCloseTo(cut[2]! - cut[1]!, 10);
    model.free();
  });

  test('are not said where a walk without its later steps is none that the decoder read', () => {
    const steps = stepNats([3, 1], undefined);
    expect(steps.map(({ gained }) => gained)).toEqual([null, null]);
    expect(withAlone(steps, 2)).toEqual(steps);
  });
});
