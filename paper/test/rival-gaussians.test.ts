import { exactInformation } from '@hidden-schema/hsn/tasks/language/information';
import { expectClose, f64, gradientOf } from '@hidden-schema/testing/closeness';
import { finiteDifferences } from '@hidden-schema/testing/finite-differences';
import { noGrad } from '@hidden-schema/torch/autograd';
import { randn } from '@hidden-schema/torch/create';
import * as optim from '@hidden-schema/torch/optim';
import { Generator } from '@hidden-schema/torch/random';
import { scope } from '@hidden-schema/torch/scope';
import type { Tensor } from '@hidden-schema/torch/tensor';
import { describe, expect, test } from 'vitest';
import { logWeightsOf } from '../src/rivals/evaluation.ts';
import {
  activeUnits,
  DiagonalGaussian,
  momentsOf,
  straightWay,
  thresholdedKl,
} from '../src/rivals/gaussian.ts';
import { DualFunction, dualKl } from '../src/rivals/ivae.ts';

const density = (x: number, mean: number, deviation: number): number =>
  Math.exp(-(((x - mean) / deviation) ** 2) / 2) / (deviation * Math.sqrt(2 * Math.PI));

/** ∫ f over a range that holds all of these Gaussians, by a fine sum. */
function integral(of: (x: number) => number, width = 20, parts = 40_000): number {
  const each = (2 * width) / parts;
  let total = 0;
  for (let i = 0; i < parts; i++) total += of(-width + (i + 0.5) * each) * each;
  return total;
}

const means = [0.3, -1.2];
const deviations = [0.5, 1.7];
const made = () =>
  new DiagonalGaussian(f64([means]), f64([deviations.map((deviation) => 2 * Math.log(deviation))]));

describe('Gaussians', () => {
  test('their divergence from the standard normal is the integral of q log q/p', () => {
    const wanted = means.map((mean, d) =>
      integral((x) => {
        const q = density(x, mean, deviations[d]!);
        return q > 0 ? q * Math.log(q / Math.max(density(x, 0, 1), 1e-300)) : 0;
      }),
    );
    expectClose(made().klOfDimensions(), [wanted], 1e-6);
  });

  test('log-densities are products over dimensions, of one sentence and of all', () => {
    const at = [
      [0.1, 0.4],
      [2, -3],
    ];
    const wanted = at.map((point) =>
      point.reduce((sum, x, d) => sum + Math.log(density(x, means[d]!, deviations[d]!)), 0),
    );
    expectClose(made().repeated(0, 2).logProb(f64(at)), wanted, 1e-9);
    expectClose(made().crossLogProb(f64(at)), [wanted], 1e-9);
  });

  test('draws have its moments, and moments of draws are read back', () => {
    const draws = made().repeated(0, 20_000).sample(new Generator(3));
    const [mean, logVariance] = momentsOf(draws.unsqueeze(1), 1e-6).chunk(2, -1);
    expectClose(mean!, [means], 0.04);
    expectClose(logVariance!.mul(0.5).exp(), [deviations], 0.04);
  });

  test('up to λ a dimension costs λ and has no gradient; above it, its own', () => {
    const of = (x: Tensor) => thresholdedKl(DiagonalGaussian.from(x).klOfDimensions(), 0.4).sum();
    // The first dimension is near to the prior, the second far from it.
    const at = f64([[0.1, 1.5, -0.1, 0.3]]).requireGrad();
    const gradient = gradientOf(of(at), at).toNumbers();
    expectClose(gradient, finiteDifferences(of, at), 1e-6);
    expect([gradient[0], gradient[2]]).toEqual([0, 0]);
    const far = (1.5 ** 2 + Math.exp(0.3) - 0.3 - 1) / 2;
    expect(of(at).item()).toBeCloseTo(0.4 + far, 9);
  });

  test('dimensions count as active where their means differ', () => {
    const apart = f64([
      [1, 0.01, 0],
      [-1, -0.01, 0],
    ]);
    expect(activeUnits(apart)).toBe(1);
  });

  test('the straight way has both ends and equal parts', () => {
    const way = straightWay(f64([0, 2]), f64([3, 2]), 3).map((step) => step.toNumbers());
    expectClose(
      way,
      [
        [0, 2],
        [1, 2],
        [2, 2],
        [3, 2],
      ],
      1e-12,
    );
  });
});

describe('information of Gaussian latents', () => {
  test('is that of a mixture by integration, nothing where all are alike, and log N where none overlap', () => {
    const of = (centre: number, count: number) => {
      const posterior = new DiagonalGaussian(
        f64(Array.from({ length: count }, (_, n) => [n % 2 === 0 ? centre : -centre])),
        f64(Array.from({ length: count }, () => [0])),
      );
      return exactInformation(posterior, posterior.sample(new Generator(1)));
    };
    const mixture = integral((x) => {
      const q = density(x, 1, 1);
      return q * Math.log(q / ((density(x, 1, 1) + density(x, -1, 1)) / 2));
    });
    // 4000 sentences of two kinds: the estimate's own noise is about 0.01.
    expect(of(1, 4000)).toBeCloseTo(mixture, 1);
    expect(Math.abs(of(0, 100))).toBeLessThan(1e-9);
    expect(of(50, 2)).toBeCloseTo(Math.log(2), 9);
  });
});

/** p(z) = N(0, 1), p(x|z) = N(w·z, s²): the likelihood of x is known, and so is q(z|x). */
const toy = { weight: 1.7, noise: 0.6, x: 1.3 };
const evidence = Math.log(density(toy.x, 0, Math.hypot(toy.weight, toy.noise)));
const precision = 1 + (toy.weight / toy.noise) ** 2;
const posteriorMean = ((toy.weight / toy.noise ** 2) * toy.x) / precision;

/** A linear-Gaussian model where a rival stands: "tokens" are ignored, x is what it is. */
const linearGaussian = (seed: number) => ({
  generator: new Generator(seed),
  priorLogProb: (z: Tensor) => DiagonalGaussian.standard(z.dim(0), 1).logProb(z),
  schema: (z: Tensor) => z.unsqueeze(1),
  decoder: {
    nll: (_tokens: Tensor, schema: Tensor | undefined) => {
      const off = schema!.reshape(-1).mul(-toy.weight).add(toy.x).div(toy.noise);
      const constant = Math.log(toy.noise) + Math.log(2 * Math.PI) / 2;
      return { perSentence: off.mul(off).mul(0.5).add(constant), tokens: 1 };
    },
  },
});

describe('the importance-weighted likelihood of a linear-Gaussian model', () => {
  const weights = (mean: number, variance: number, draws: number) => {
    const posterior = new DiagonalGaussian(f64([[mean]]), f64([[Math.log(variance)]]));
    return logWeightsOf(linearGaussian(4), posterior.repeated(0, draws), Int32Array.of(0), draws).weights;
  };

  test('is exact for every single draw of the exact posterior', () => {
    for (const weight of weights(posteriorMean, 1 / precision, 100)) expect(weight).toBeCloseTo(evidence, 5);
  });

  test('converges with another posterior, whose bound lies below by its divergence', () => {
    const [mean, variance] = [posteriorMean + 0.2, 2 / precision];
    const all = weights(mean, variance, 20_000);
    const estimate = Math.log(all.reduce((sum, weight) => sum + Math.exp(weight), 0) / all.length);
    expect(estimate).toBeCloseTo(evidence, 1.9);
    const gap = (variance * precision - 1 - Math.log(variance * precision) + 0.04 * precision) / 2;
    const bound = all.reduce((sum, weight) => sum + weight, 0) / all.length;
    expect(bound).toBeCloseTo(evidence - gap, 1.5);
    expect(gap).toBeGreaterThan(0.2);
  });
});

describe('the dual form of a divergence', () => {
  const [mean, deviation] = [1, 0.7];
  const kl = (mean ** 2 + deviation ** 2 - 2 * Math.log(deviation) - 1) / 2;
  const drawn = (count: number, seed: number) => ({
    q: randn([count, 1], new Generator(seed)).mul(deviation).add(mean),
    p: randn([count, 1], new Generator(seed + 1)),
  });
  const ratio = (z: Tensor): Tensor => {
    const off = z.sub(mean).div(deviation);
    return z.mul(z).sub(off.mul(off)).mul(0.5).sub(Math.log(deviation)).squeeze(1);
  };

  test('is the divergence where ν is log q/p, and less for any other', () => {
    const { q, p } = drawn(200_000, 1);
    expect(dualKl(ratio(q), ratio(p)).item()).toBeCloseTo(kl, 1.5);
    for (const change of [(v: Tensor) => v.mul(0.5), (v: Tensor) => v.add(0.5), (v: Tensor) => v.mul(0)])
      expect(dualKl(change(ratio(q)), change(ratio(p))).item()).toBeLessThan(kl - 0.05);
  });

  test('its gradient is that of finite differences', () => {
    const of = (x: Tensor) => {
      const [a, b] = x.chunk(2, 0);
      return dualKl(a!, b!);
    };
    const at = f64([0.4, -1, 0.3, 0.2]).requireGrad();
    expectClose(gradientOf(of(at), at), finiteDifferences(of, at), 1e-7);
  });

  test('a function that learns in turn finds it', () => {
    const dual = new DualFunction(1, 32, new Generator(2));
    const parameters = [...dual.namedParameters()];
    const optimizer = new optim.Adam([{ parameters, rate: 0.005 }]);
    for (let step = 0; step < 300; step++)
      scope(() => {
        const { q, p } = drawn(256, 10 + 2 * step);
        optimizer.zeroGrad();
        dualKl(dual.forward(q), dual.forward(p)).neg().backward();
        optimizer.step();
      });
    const { q, p } = drawn(50_000, 5);
    const found = noGrad(() => dualKl(dual.forward(q), dual.forward(p)).item());
    expect(found).toBeGreaterThan(0.85 * kl);
    expect(found).toBeLessThan(1.1 * kl);
  });

  test('held, it passes a gradient on and takes none', () => {
    const dual = new DualFunction(2, 16, new Generator(2));
    const z = randn([3, 2], new Generator(1)).requireGrad();
    dual.forward(z, true).sum().backward();
    expect(z.grad!.abs().sum().item()).toBeGreaterThan(0);
    for (const parameter of dual.parameters()) expect(parameter.grad).toBeUndefined();
    expectClose(dual.forward(z, true), dual.forward(z), 1e-12);
  });
});
