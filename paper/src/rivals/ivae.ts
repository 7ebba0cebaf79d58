import type { IvaeConfig } from '@hidden-schema/hsn/config/rivals';
import type { ReadingBatch } from '@hidden-schema/hsn/encoder/walk-queries';
import { betaAt } from '@hidden-schema/hsn/objective/objective';
import type { ReadTexts } from '@hidden-schema/hsn/tasks/language/network';
import { randn } from '@hidden-schema/torch/create';
import { cat, linear } from '@hidden-schema/torch/functional';
import { nn } from '@hidden-schema/torch/index';
import type { Generator } from '@hidden-schema/torch/random';
import type { Tensor } from '@hidden-schema/torch/tensor';
import { momentsOf } from './gaussian.ts';
import { GaussianPriorRival } from './gaussian-prior.ts';
import type { RivalOptions, RivalParts, RivalTerms } from './rival.ts';

// Shapes: B sentences, M draws, H features of a sentence, D dimensions of a latent and of noise.

/** ν(z), or ν(x, z): its best value is log q/p. */
export class DualFunction extends nn.Module {
  readonly layers: nn.Linear[];

  constructor(inputs: number, hidden: number, generator: Generator) {
    super();
    const sizes = [inputs, hidden, hidden, 1];
    this.layers = sizes.slice(1).map((size, i) => new nn.Linear(sizes[i]!, size, generator));
  }

  /** ν of each row [B]; held, it is looked at and does not learn. */
  forward(inputs: Tensor, held = false): Tensor {
    const fixed = (tensor: Tensor) => (held ? tensor.detach() : tensor);
    const through = (x: Tensor, { weight, bias }: nn.Linear) => linear(x, fixed(weight), fixed(bias!));
    const [first, second, last] = this.layers as [nn.Linear, nn.Linear, nn.Linear];
    return through(through(through(inputs, first).relu(), second).relu(), last).squeeze(-1);
  }
}

/** Where ν of a draw of the prior is above, its exponential would soon be no number. */
const widest = 20;

/** E_q ν − E_p exp ν + 1 ≤ KL[q; p], with equality where ν = log q/p; from ν of draws of either. */
export function dualKl(drawn: Tensor, prior: Tensor): Tensor {
  return drawn.mean().sub(prior.clamp(undefined, widest).exp().mean()).add(1);
}

/** Draws of each sentence that its latents are summed up by where a density is needed. */
const summedUp = 64;
const leastVariance = 1e-4;

/**
 * iVAE (Fang et al., 2019): z = G(x, ε) with noise ε, so that q(z|x) is whatever G makes of it. Its divergence from
 * p(z) = N(0, 1) is the best value of a dual function, which learns in turn; for the mutual-information variant that of
 * the aggregated posterior q(z).
 */
export class Ivae extends GaussianPriorRival {
  readonly config: IvaeConfig;
  readonly mix: nn.Linear;
  readonly draw: nn.Linear;
  readonly dual: DualFunction;

  constructor(config: IvaeConfig, parts: RivalParts, generator: Generator) {
    const { hidden, latent, divergence, dual } = config;
    super(parts, { width: hidden, length: 1, dropout: config.encoder.dropout }, generator);
    this.config = config;
    this.mix = new nn.Linear(hidden + latent, hidden, generator);
    this.draw = new nn.Linear(hidden, latent, generator);
    const inputs = divergence === 'sentence' ? latent + hidden : latent;
    this.dual = new DualFunction(inputs, dual.hidden, generator);
  }

  /** −E log p(x|z) + β·KL by ν as it is; what ν takes of the prior has no say in how latents are drawn. */
  forward(batch: ReadTexts, { step, beta = betaAt(this.config.beta, step) }: RivalOptions): RivalTerms {
    const features = this.#features(batch);
    const latents = this.#drawn(features);
    const { perSentence, tokens } = this.decode(batch, latents);
    const kl = this.#divergence(features, latents, true);
    const reconstruction = perSentence.mean().neg();
    return { reconstruction, kl, loss: reconstruction.add(kl.mul(beta)), tokens };
  }

  /** ν climbs towards the divergence of latents as they are now, with fresh draws each time. */
  override *turns(batch: ReadTexts): Iterable<Tensor> {
    const features = this.#features(batch).detach();
    for (let i = 0; i < this.config.dual.updates; i++)
      yield this.#divergence(features, this.#drawn(features).detach(), false).neg();
  }

  #features(batch: ReadingBatch): Tensor {
    return this.encoded(batch).squeeze(1); // [B, H]
  }

  /** G(x, ε): the noise, moved by what it and the features say; so latents start near the prior. [B, D] */
  #drawn(features: Tensor): Tensor {
    const noise = randn([features.dim(0), this.config.latent], this.generator);
    return noise.add(this.draw.forward(this.mix.forward(cat([features, noise], 1)).relu()));
  }

  #divergence(features: Tensor, latents: Tensor, held: boolean): Tensor {
    const known = this.config.divergence === 'sentence' ? [features] : [];
    const prior = this.fromPrior(latents.dim(0), this.generator);
    const of = (z: Tensor) => this.dual.forward(cat([...known, z], 1), held);
    return dualKl(of(latents), of(prior));
  }

  /** Moments of some draws: q(z|x) itself has no density that could be asked for. [B, 2·D] */
  beliefs(batch: ReadingBatch): Tensor {
    const features = this.#features(batch);
    const [B, H] = features.shape as [number, number];
    const many = features
      .unsqueeze(0)
      .expand(summedUp, B, H)
      .reshape(summedUp * B, H);
    return momentsOf(this.#drawn(many).reshape(summedUp, B, this.config.latent), leastVariance);
  }
}
