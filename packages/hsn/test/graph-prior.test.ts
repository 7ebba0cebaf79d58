import { expectClose, f64, gradientOf, sigmoid, someLogits, sum } from '@hidden-schema/testing/closeness';
import { allBits, linkTable, tableKl } from '@hidden-schema/testing/enumeration';
import { Generator, type Tensor } from '@hidden-schema/torch';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LinkDistribution, PairIndex } from '../src/graph/bernoulli.ts';
import { betaKl, digamma, logGamma } from '../src/graph/gamma.ts';
import { BernoulliPrior, BetaBernoulliPrior, logit, PowerLawPrior } from '../src/graph/prior.ts';

const float64 = { dtype: 'float64' } as const;

describe('gamma functions', () => {
  test('known values', () => {
    const euler = 0.5772156649015329;
    for (const [x, wanted] of [
      [1, 0],
      [2, 0],
      [0.5, Math.log(Math.PI) / 2],
      [5, Math.log(24)],
      [11, Math.log(3628800)],
    ] as const)
      expectClose(logGamma(x), wanted, 1e-11);
    expectClose(logGamma(101), sum(Array.from({ length: 100 }, (_, i) => Math.log(i + 1))), 1e-10);
    for (const [x, wanted] of [
      [1, -euler],
      [0.5, -euler - 2 * Math.LN2],
      [2, 1 - euler],
    ] as const)
      expectClose(digamma(x), wanted, 1e-11);
    expectClose(digamma(1e-3), -1000.575571931, 1e-8);
  });

  test('recurrences hold, and ψ is the slope of log Γ', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.01, max: 1e4, noNaN: true }), (x) => {
        const scale = 1 + Math.abs(logGamma(x + 1));
        expect(Math.abs(logGamma(x + 1) - logGamma(x) - Math.log(x)) / scale).toBeLessThan(1e-12);
        expectClose(digamma(x + 1) - digamma(x), 1 / x, 1e-10 * (1 + 1 / x));
        const step = 1e-4 * x;
        const slope = (logGamma(x + step) - logGamma(x - step)) / (2 * step);
        expect(Math.abs(slope - digamma(x)) / (1 + Math.abs(digamma(x)))).toBeLessThan(1e-5);
      }),
    );
  });
});

/** ∫₀¹ g(p) dp by Simpson's rule after p = 3s² − 2s³, which flattens the ends. */
function integrate(g: (p: number) => number, intervals = 4000): number {
  const at = (s: number) => (s === 0 || s === 1 ? 0 : g(3 * s * s - 2 * s ** 3) * 6 * s * (1 - s));
  const weights = (i: number) => (i === 0 || i === intervals ? 1 : i % 2 ? 4 : 2);
  return (
    sum(Array.from({ length: intervals + 1 }, (_, i) => weights(i) * at(i / intervals))) / (3 * intervals)
  );
}
const betaDensity = (a: number, b: number) => {
  const norm = integrate((p) => p ** (a - 1) * (1 - p) ** (b - 1));
  return (p: number) => (p ** (a - 1) * (1 - p) ** (b - 1)) / norm;
};

describe('a density that is learned', () => {
  const [a, b] = [1.5, 4];
  const pairs = new PairIndex(3);
  const prior = new BetaBernoulliPrior(a, b, pairs.count);
  const graphs = allBits(3);
  /** p(A) with the density integrated out. */
  const marginal = graphs.map((bits) => {
    const density = betaDensity(a, b);
    const links = sum(bits);
    return integrate((p) => density(p) * p ** links * (1 - p) ** (3 - links));
  });
  const bound = (logits: number[]) => {
    const links = new LinkDistribution(pairs, f64(logits));
    const expected = links.probabilities.sum().item();
    return links.kl(prior.belief(expected)).item() + prior.cost(expected);
  };

  test('divergence of Beta distributions is the integral', () => {
    const [q, p] = [betaDensity(3.2, 5), betaDensity(a, b)];
    expectClose(
      betaKl(3.2, 5, a, b),
      integrate((x) => q(x) * Math.log(q(x) / p(x))),
      1e-7,
    );
    expectClose(betaKl(a, b, a, b), 0, 1e-12);
  });

  test('cost and divergence are the variational bound, integrated numerically', () => {
    const logits = [0.7, -1.2, 0.1];
    const q = logits.map(sigmoid);
    const density = betaDensity(a + sum(q), b + 3 - sum(q));
    const start = betaDensity(a, b);
    const wanted = integrate((p) => {
      const links = q.map((x) => x * Math.log(x / p) + (1 - x) * Math.log((1 - x) / (1 - p)));
      return density(p) * (sum(links) + Math.log(density(p) / start(p)));
    });
    expectClose(bound(logits), wanted, 1e-7);
  });

  test('it bounds the divergence from the integrated prior, tightly for a certain graph', () => {
    for (const logits of [
      [0.7, -1.2, 0.1],
      [3, 3, -3],
      [-2, -2, -2],
    ]) {
      const exact = tableKl(linkTable(graphs, logits.map(sigmoid)), marginal);
      expect(bound(logits)).toBeGreaterThan(exact);
      expect(bound(logits)).toBeLessThan(exact + 0.5);
    }
    for (const [i, bits] of graphs.entries()) {
      const certain = bits.map((bit) => (bit ? 60 : -60));
      expectClose(bound(certain), -Math.log(marginal[i]!), 1e-7);
    }
  });

  test('its own density is the best one, so that none of its gradient is missing', () => {
    const logits = f64([0.7, -1.2, 0.1]).requireGrad();
    const links = new LinkDistribution(pairs, logits);
    const gradient = gradientOf(links.kl(prior.belief(links.probabilities.sum().item())), logits).toNumbers();
    const step = 1e-5;
    const moved = (e: number, by: number) => bound([0.7, -1.2, 0.1].map((x, i) => (i === e ? x + by : x)));
    expectClose(
      gradient,
      gradient.map((_, e) => (moved(e, step) - moved(e, -step)) / (2 * step)),
      1e-7,
    );
  });

  test('sparse beliefs lower the prior’s log-odds', () => {
    const odds = (links: number) => {
      const { logPresent, logAbsent } = new BetaBernoulliPrior(1, 1, 4950).belief(links);
      return (logPresent as number) - (logAbsent as number);
    };
    expectClose(odds(291), logit(291 / 4950), 0.01);
    expect(odds(50)).toBeLessThan(odds(291));
  });
});

describe('a power law of degrees', () => {
  const pairs = new PairIndex(6);
  const prior = new PowerLawPrior({ p: 0.1, exponent: 2.5 }, pairs, new Generator(0), float64);

  test('starts at the asked density and takes gradients', () => {
    const belief = prior.belief();
    expectClose(
      (belief.logPresent as Tensor).exp(),
      Array.from({ length: 15 }, () => 0.1),
      0.01,
    );
    expectClose(prior.logit, logit(0.1), 1e-12);
    const links = new LinkDistribution(pairs, f64(someLogits(15)));
    expect(
      gradientOf(links.kl(belief), prior.excess)
        .abs()
        .toNumbers()
        .every((g) => g > 1e-4),
    ).toBe(true);
    expect(
      gradientOf(prior.cost(), prior.excess)
        .toNumbers()
        .every((g) => g > 0),
    ).toBe(true);
  });

  test('cost differences are those of the Pareto density of exp(θ), as a density over θ', () => {
    const softplus = (x: number) => Math.log1p(Math.exp(x));
    const cost = (excess: number) => {
      const one = new PowerLawPrior({ p: 0.1, exponent: 2.5 }, new PairIndex(2), new Generator(0), float64);
      one.load(new Map([['excess', f64([excess, 0])]]));
      return one.cost().item();
    };
    // Pareto: w^(−γ) dw with w = e^θ is e^(−(γ−1)θ) dθ.
    expectClose(cost(1.3) - cost(-0.4), 1.5 * (softplus(1.3) - softplus(-0.4)), 1e-12);
  });

  test('weights drawn from it give degrees with that exponent', () => {
    const exponent = 2.5;
    const K = 400;
    const sparse = new PairIndex(K);
    const density = 1e-4;
    const model = new PowerLawPrior({ p: density, exponent }, sparse, new Generator(0), float64);
    const uniforms = Array.from({ length: K }, (_, i) => (i + 0.5) / K);
    // θ − floor is exponential with rate γ − 1; `excess` is its inverse softplus.
    const raised = uniforms.map((u) => -Math.log(1 - u) / (exponent - 1));
    model.load(new Map([['excess', f64(raised.map((r) => Math.log(Math.expm1(r))))]]));
    const degrees = sparse
      .matrix((model.belief().logPresent as Tensor).exp())
      .sum(1)
      .toNumbers()
      .sort((x, y) => y - x);
    // Rank r of a power law's largest degrees goes as r^(−1/(γ−1)).
    const slope = Math.log(degrees[9]! / degrees[199]!) / Math.log(199.5 / 9.5);
    expect(slope).toBeCloseTo(1 / (exponent - 1), 1);
  });

  test('refuses what is no probability, and no power law', () => {
    expect(() => new PowerLawPrior({ p: 1.2, exponent: 2 }, pairs, new Generator(0))).toThrow(
      'between 0 and 1, got 1.2',
    );
    expect(() => new PowerLawPrior({ p: 0.2, exponent: 1 }, pairs, new Generator(0))).toThrow(
      'above 1, got 1',
    );
    expect(() => new BernoulliPrior(0)).toThrow('between 0 and 1, got 0');
    expect(() => new BernoulliPrior(Number.NaN)).toThrow('between 0 and 1, got NaN');
    expect(() => new BetaBernoulliPrior(0, 1, 3)).toThrow('positive, got 0 and 1');
  });
});
