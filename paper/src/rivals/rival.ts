import type { RivalConfig } from '@hidden-schema/hsn/config/rivals';
import { type ReadingBatch, WalkEncoder } from '@hidden-schema/hsn/encoder/walk-queries';
import { inPrecision, type Likelihood } from '@hidden-schema/hsn/model';
import type { ReadTexts } from '@hidden-schema/hsn/tasks/language/network';
import { nn } from '@hidden-schema/torch/index';
import type { Generator } from '@hidden-schema/torch/random';
import type { Tensor } from '@hidden-schema/torch/tensor';
import type { LanguageDecoder } from '@hidden-schema/transformers/language-decoder';
import type { TextEncoder } from '@hidden-schema/transformers/text-encoder';

// Shapes: B sentences, M draws; a latent is [D] numbers, or [L] codes.

/** q(z|x) of B sentences, or a stand-in that importance draws come from. */
export interface LatentPosterior {
  /** One latent for each sentence. */
  sample(generator: Generator): Tensor;
  /** log q(z|x) of a latent for each sentence. [B] */
  logProb(latents: Tensor): Tensor;
  /** log q(z_m|x_b) of M latents under every sentence. [B, M] */
  crossLogProb(latents: Tensor): Tensor;
  /** Of one sentence, `count` times. */
  repeated(row: number, count: number): LatentPosterior;
}

/** The parts of a rival's objective, each a scalar in nats per sentence. */
export interface RivalTerms {
  /** −E log p(x|z) */
  readonly reconstruction: Tensor;
  readonly kl: Tensor;
  readonly loss: Tensor;
  readonly tokens: number;
}

/** Who holds the batch: sums over them, in place. */
export interface Holders {
  readonly size: number;
  sum(values: readonly Tensor[]): void;
}

export interface RivalOptions {
  /** Of training, from 0: β follows it. */
  step: number;
  beta?: number;
  holders?: Holders;
}

/** What a rival is made of beside its settings. */
export interface RivalParts {
  text: TextEncoder;
  frozen: boolean;
  decoder: LanguageDecoder;
}

/** A model of texts with another latent than walks: the same encoder, queries and decoder around it. */
export abstract class Rival extends nn.Module {
  abstract readonly config: RivalConfig;
  /** Its queries are read as numbers of any meaning instead of scores of symbols. */
  readonly encoder: WalkEncoder;
  readonly decoder: LanguageDecoder;
  /** Draws dropout, dropped words and latents; part of a checkpoint. */
  readonly generator: Generator;

  constructor(parts: RivalParts, outputs: Outputs, generator: Generator) {
    super();
    const { width: symbols, length, dropout } = outputs;
    this.encoder = new WalkEncoder(parts.text, { symbols, length, dropout, frozen: parts.frozen }, generator);
    this.decoder = parts.decoder;
    this.generator = generator;
  }

  /** One pass over a batch at a training step. */
  abstract forward(batch: ReadTexts, options: RivalOptions): RivalTerms;
  /** Losses of parts that learn in turn with the rest. */
  turns?(batch: ReadTexts): Iterable<Tensor>;
  /** All that the encoder says of each sentence; posteriors and latents are read from it. [B, …] */
  abstract beliefs(batch: ReadingBatch): Tensor;
  /** The model's own q(z|x). */
  abstract posterior(beliefs: Tensor): LatentPosterior;
  /** What importance draws come from where it is not q(z|x): that may be a point. */
  proposal?(beliefs: Tensor): LatentPosterior;
  /** log p(z) of latents. [B] */
  abstract priorLogProb(latents: Tensor): Tensor;
  /** Latents from the prior. */
  abstract fromPrior(count: number, generator: Generator): Tensor;
  /** The one latent that a sentence is read as. */
  abstract read(beliefs: Tensor): Tensor;
  /** Latents as the decoder takes them. [B, L, S] */
  abstract schema(latents: Tensor): Tensor;
  /** Latents on the way from one to another, both included. */
  abstract way(first: Tensor, second: Tensor, steps: number): Tensor[];
  /** How much of the latent is in use, over sentences' latents as they are read. */
  abstract usage(read: Tensor): { active_units?: number; symbols_used?: number };

  /** What the encoder's queries give. [B, L, width] */
  protected encoded(batch: ReadingBatch): Tensor {
    return inPrecision(this.config.training.precision, () => this.encoder.scores(batch));
  }

  /** log p(x|z). */
  protected decode(batch: ReadTexts, latents: Tensor): Likelihood {
    return this.written(batch, this.schema(latents));
  }

  /** The same of latents as the decoder takes them [B, L, S]. */
  protected written(batch: ReadTexts, schema: Tensor): Likelihood {
    let tokens = 0;
    const perSentence = inPrecision(this.config.training.precision, () => {
      const likelihood = this.decoder.logLikelihood(batch, { vectors: () => schema }, this.generator);
      tokens = likelihood.tokens;
      return likelihood.perSentence;
    });
    return { perSentence, tokens };
  }
}

/** What the encoder gives: `length` vectors of a width. */
interface Outputs {
  width: number;
  length: number;
  dropout: number;
}
