import { randn, zeros } from '@hidden-schema/torch/create';
import { cat } from '@hidden-schema/torch/functional';
import type { Generator } from '@hidden-schema/torch/random';
import type { Tensor } from '@hidden-schema/torch/tensor';
import type { LatentPosterior } from './rival.ts';

// Shapes: B sentences, M draws, D dimensions of a latent.

const logTwoPi = Math.log(2 * Math.PI);

/** Gaussians with independent dimensions, one for each sentence. */
export class DiagonalGaussian implements LatentPosterior {
  /** [B, D] each */
  readonly mean: Tensor;
  readonly logVariance: Tensor;

  constructor(mean: Tensor, logVariance: Tensor) {
    this.mean = mean;
    this.logVariance = logVariance;
  }

  /** From means and logarithms of variances side by side. [B, 2·D] */
  static from(beliefs: Tensor): DiagonalGaussian {
    const [mean, logVariance] = beliefs.chunk(2, -1);
    return new DiagonalGaussian(mean!, logVariance!);
  }

  /** The standard normal of a shape. */
  static standard(rows: number, dimensions: number): DiagonalGaussian {
    return new DiagonalGaussian(zeros([rows, dimensions]), zeros([rows, dimensions]));
  }

  /** z = μ + σ·ε, with gradients. [B, D] */
  sample(generator: Generator): Tensor {
    const { mean, logVariance } = this;
    const noise = randn(mean.shape, generator, { dtype: mean.dtype });
    return mean.add(logVariance.mul(0.5).exp().mul(noise));
  }

  logProb(latents: Tensor): Tensor {
    return logDensity(latents, this.mean, this.logVariance);
  }

  /** log q(z_m|x_b) of M latents [M, D] under every sentence. [B, M] */
  crossLogProb(latents: Tensor): Tensor {
    return logDensity(latents.unsqueeze(0), this.mean.unsqueeze(1), this.logVariance.unsqueeze(1));
  }

  /** KL to the standard normal of each dimension. [B, D] */
  klOfDimensions(): Tensor {
    const { mean, logVariance } = this;
    return mean.mul(mean).add(logVariance.exp()).sub(logVariance).sub(1).mul(0.5);
  }

  repeated(row: number, count: number): DiagonalGaussian {
    const of = (tensor: Tensor) => tensor.narrow(0, row, 1).expand(count, -1);
    return new DiagonalGaussian(of(this.mean), of(this.logVariance));
  }
}

function logDensity(latents: Tensor, mean: Tensor, logVariance: Tensor): Tensor {
  const off = latents.sub(mean);
  const scaled = off.mul(off).mul(logVariance.neg().exp());
  return scaled.add(logVariance).add(logTwoPi).sum(-1).mul(-0.5);
}

/** Means and logarithms of variances of M draws of each sentence [M, B, D]. [B, 2·D] */
export function momentsOf(draws: Tensor, leastVariance: number): Tensor {
  const mean = draws.mean(0);
  const off = draws.sub(mean.unsqueeze(0));
  const variance = off
    .mul(off)
    .sum(0)
    .div(Math.max(1, draws.dim(0) - 1));
  return cat([mean, variance.clamp(leastVariance).log()], 1);
}

/** Σ_d max(λ, KL_d) of each sentence: up to λ nats a dimension cost the same, used or not. [B] */
export function thresholdedKl(dimensions: Tensor, threshold: number): Tensor {
  return (threshold > 0 ? dimensions.clamp(threshold) : dimensions).sum(-1);
}

/** Least variance over sentences of a mean whose dimension counts as active. */
const activeVariance = 0.01;

/** Dimensions whose means [N, D] differ between sentences. */
export function activeUnits(means: Tensor): number {
  const off = means.sub(means.mean(0, true));
  return off.mul(off).mean(0).gt(activeVariance).to('float32').sum().item();
}

/** Latents in equal parts of the straight way between two [D], both included. [steps + 1, D] */
export function straightWay(first: Tensor, second: Tensor, steps: number): Tensor[] {
  return Array.from({ length: steps + 1 }, (_, i) => first.mul(1 - i / steps).add(second.mul(i / steps)));
}
