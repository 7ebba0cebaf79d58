import { scope, Tensor } from '@hidden-schema/torch';
import { describe, expect, test } from 'vitest';
import { syntheticOptions } from '../src/config/network.ts';
import { LinkDistribution, PairIndex } from '../src/graph/bernoulli.ts';
import { BernoulliPrior, BetaBernoulliPrior } from '../src/graph/prior.ts';
import {
  annealedAt,
  betaAt,
  graphKl,
  type ObjectiveOptions,
  objective,
  walkKl,
} from '../src/objective/objective.ts';
import { WalkDistribution } from '../src/walk/chain.ts';
import { MeanFieldWalks } from '../src/walk/mean-field.ts';
import { WalkableGraph } from '../src/walk/walkable-graph.ts';

const float64 = (data: number[], shape: number[]) => Tensor.fromArray(Float64Array.from(data), shape);

describe('schedules', () => {
  test('temperatures stay, fall on a line, or by a factor', () => {
    expect([0, 5, 1e9].map((step) => annealedAt(0.75, step))).toEqual([0.75, 0.75, 0.75]);
    const linear = { from: 1, to: 0.5, steps: 10, shape: 'linear' } as const;
    expect([0, 5, 10, 99].map((step) => annealedAt(linear, step))).toEqual([1, 0.75, 0.5, 0.5]);
    const exponential = { from: 1, to: 0.25, steps: 10, shape: 'exponential' } as const;
    expect([0, 5, 10, 99].map((step) => annealedAt(exponential, step))).toEqual([1, 0.5, 0.25, 0.25]);
  });

  test('beta is constant, rises once, or again in every cycle', () => {
    const at = (given: object, steps: number[]) => {
      const { beta } = syntheticOptions.parse({ objective: { beta: given } }).objective;
      return steps.map((step) => betaAt(beta, step));
    };
    expect(at({ to: 0.3 }, [0, 7])).toEqual([0.3, 0.3]);
    expect(at({ kind: 'linear', to: 2, steps: 4 }, [0, 1, 4, 9])).toEqual([0, 0.5, 2, 2]);
    expect(at({ kind: 'cyclical', to: 1, steps: 8, rise: 0.5 }, [0, 2, 4, 7, 8, 10])).toEqual([
      0, 0.5, 1, 1, 0, 0.5,
    ]);
    const waiting = { kind: 'cyclical', to: 2, steps: 8, zero: 0.5, rise: 0.25 } as const;
    expect(at(waiting, [0, 4, 5, 6, 7, 8, 13])).toEqual([0, 0, 1, 2, 2, 0, 1]);
    const [start, later, last] = at({ kind: 'exponential', to: 2, steps: 10 }, [0, 2, 1000]);
    expect(start).toBe(0);
    expect(later).toBeCloseTo(2 * (1 - Math.exp(-1)), 12);
    expect(last).toBeCloseTo(2, 12);
  });
});

describe('the divergence of graphs', () => {
  const pairs = new PairIndex(4);
  const logits = [-2, -0.5, 0, 0.3, 1.2, 4];
  const probabilities = logits.map((x) => 1 / (1 + Math.exp(-x)));
  const negativeEntropy = probabilities.reduce((s, q) => s + q * Math.log(q) + (1 - q) * Math.log(1 - q), 0);
  const expected = probabilities.reduce((sum, q) => sum + q, 0);

  test('is that of independent links under one probability', () => {
    const p = 0.2;
    const byHand = negativeEntropy - expected * Math.log(p) - (6 - expected) * Math.log(1 - p);
    const got = scope(() =>
      graphKl(new LinkDistribution(pairs, float64(logits, [6])), new BernoulliPrior(p)).item(),
    );
    expect(got).toBeCloseTo(byHand, 12);
  });

  test('with an unknown probability is −H − log ∫ Beta(p) p^S (1 − p)^(E − S) dp, its least value', () => {
    const [a, b] = [2, 5];
    // Beta(2, 5) has density 30 p (1 − p)^4; Simpson's rule on 2000 pieces.
    const pieces = 2000;
    const density = (p: number) =>
      30 * p ** (a - 1) * (1 - p) ** (b - 1) * p ** expected * (1 - p) ** (6 - expected);
    let integral = 0;
    for (let i = 0; i <= pieces; i++) {
      const weight = i === 0 || i === pieces ? 1 : i % 2 === 1 ? 4 : 2;
      integral += (weight * density(i / pieces)) / (3 * pieces);
    }
    const prior = new BetaBernoulliPrior(a, b, 6);
    const got = scope(() => graphKl(new LinkDistribution(pairs, float64(logits, [6])), prior).item());
    expect(got).toBeCloseTo(negativeEntropy - Math.log(integral), 9);
  });
});

describe('the divergence of walks', () => {
  const options = (kind: ObjectiveOptions['kind'], aggregation: ObjectiveOptions['aggregation']) => ({
    kind,
    aggregation,
    klThreshold: 0,
    graphKlThreshold: 0,
    graphDivisor: 1,
  });
  const kls = (meanField: boolean) =>
    scope(() => {
      const ring = [0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0];
      const graph = new WalkableGraph(float64(ring, [4, 4]));
      const scores = float64(
        Array.from({ length: 2 * 3 * 4 }, (_, i) => Math.sin(3 * i)),
        [2, 3, 4],
      );
      const flat = WalkDistribution.fromScores(graph, float64(Array(12).fill(0), [1, 3, 4]));
      const posterior = meanField ? new MeanFieldWalks(scores) : WalkDistribution.fromScores(graph, scores);
      return {
        sentence: walkKl(posterior, flat, options('elbo', 'mean')).item(),
        projection: walkKl(posterior, flat, options('information', 'projection')).item(),
        own: walkKl(flat, flat, options('information', 'projection')).item(),
        byHand: posterior.kl(flat).toNumbers(),
      };
    });

  test.each([false, true])(
    'elbo is the mean over sentences, and never less than the aggregated one (%s)',
    (meanField) => {
      const { sentence, projection, own, byHand } = kls(meanField);
      expect(byHand).toHaveLength(2);
      expect(sentence).toBeCloseTo((byHand[0]! + byHand[1]!) / 2, 12);
      expect(projection).toBeGreaterThan(0);
      expect(sentence).toBeGreaterThan(projection);
      expect(own).toBeCloseTo(0, 12);
    },
  );
});

/** The loss of two sentences on a ring of four symbols. */
function lossOf(given: Partial<ObjectiveOptions>, beta = 1): number {
  return scope(() => {
    const graph = new WalkableGraph(float64([0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0], [4, 4]));
    const scores = float64(
      Array.from({ length: 24 }, (_, i) => 2 * Math.sin(3 * i)),
      [2, 3, 4],
    );
    const pairs = new PairIndex(4);
    const parts = {
      logLikelihood: float64([-3, -5], [2]),
      posterior: WalkDistribution.fromScores(graph, scores),
      walkPrior: WalkDistribution.fromScores(graph, float64(Array(12).fill(0), [1, 3, 4])),
      links: new LinkDistribution(pairs, float64(Array(6).fill(0.5), [6])),
      graphPrior: new BernoulliPrior(0.5),
    };
    const plain = { kind: 'elbo', aggregation: 'mean', klThreshold: 0, graphKlThreshold: 0 } as const;
    return objective(parts, beta, { ...plain, graphDivisor: 1, ...given }).loss.item();
  });
}

describe('thresholds of the divergences (appendix F.1)', () => {
  const graph = scope(() =>
    graphKl(
      new LinkDistribution(new PairIndex(4), float64(Array(6).fill(0.5), [6])),
      new BernoulliPrior(0.5),
    ).item(),
  );
  const walk = lossOf({}) - 4 - graph;

  test('below its threshold a divergence costs the threshold, above it itself', () => {
    expect(lossOf({ graphKlThreshold: graph + 2 })).toBeCloseTo(4 + walk + graph + 2, 12);
    expect(lossOf({ graphKlThreshold: graph / 2 })).toBeCloseTo(4 + walk + graph, 12);
    expect(lossOf({ klThreshold: walk + 3 })).toBeCloseTo(4 + walk + 3 + graph, 12);
    expect(lossOf({ graphKlThreshold: graph + 2, graphDivisor: 4 }, 0.5)).toBeCloseTo(
      4 + 0.5 * (walk + (graph + 2) / 4),
      12,
    );
  });
});

describe('information above a capacity', () => {
  const lossWith = (kind: ObjectiveOptions['kind'], capacity?: number): number => lossOf({ kind, capacity });

  test("with none of it free the objective is the ELBO, with enough of it the paper's", () => {
    expect(lossWith('information', 0)).toBeCloseTo(lossWith('elbo'), 12);
    expect(lossWith('information', 1e3)).toBe(lossWith('information'));
    expect(lossWith('elbo')).toBeGreaterThan(lossWith('information') + 0.1);
  });

  test('in between it costs what exceeds it', () => {
    const excess = lossWith('elbo') - lossWith('information');
    expect(lossWith('information', excess / 3) - lossWith('information')).toBeCloseTo((2 * excess) / 3, 12);
  });
});
