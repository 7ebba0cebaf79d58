import type { OptimusConfig } from '@hidden-schema/hsn/config/rivals';
import type { ReadingBatch } from '@hidden-schema/hsn/encoder/walk-queries';
import { betaAt } from '@hidden-schema/hsn/objective/objective';
import type { ReadTexts } from '@hidden-schema/hsn/tasks/language/network';
import type { Generator } from '@hidden-schema/torch/random';
import type { Tensor } from '@hidden-schema/torch/tensor';
import { thresholdedKl } from './gaussian.ts';
import { GaussianPriorRival } from './gaussian-prior.ts';
import type { RivalOptions, RivalParts, RivalTerms } from './rival.ts';

// Shapes: B sentences, D dimensions of a latent.

/** Optimus (Li et al., 2020): q(z|x) = N(μ(x), σ²(x)), p(z) = N(0, 1), and a decoder that reads z. */
export class Optimus extends GaussianPriorRival {
  readonly config: OptimusConfig;

  constructor(config: OptimusConfig, parts: RivalParts, generator: Generator) {
    super(parts, { width: 2 * config.latent, length: 1, dropout: config.encoder.dropout }, generator);
    this.config = config;
  }

  /** −E log p(x|z) + β Σ_d max(λ, KL_d) */
  forward(batch: ReadTexts, { step, beta = betaAt(this.config.beta, step) }: RivalOptions): RivalTerms {
    const posterior = this.posterior(this.beliefs(batch));
    const { perSentence, tokens } = this.decode(batch, posterior.sample(this.generator));
    const dimensions = posterior.klOfDimensions();
    const reconstruction = perSentence.mean().neg();
    const paid = thresholdedKl(dimensions, this.config.threshold).mean();
    const loss = reconstruction.add(paid.mul(beta));
    return { reconstruction, kl: dimensions.sum(-1).mean(), loss, tokens };
  }

  beliefs(batch: ReadingBatch): Tensor {
    return this.encoded(batch).squeeze(1); // [B, 2·D]
  }
}
