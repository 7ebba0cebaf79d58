import { UserError } from '@hidden-schema/base/errors';
import { framesOf, type Tokenizers } from '@hidden-schema/hsn/tasks/language/build';
import { type WritingOptions, written } from '@hidden-schema/hsn/tasks/language/texts';
import { type Frames, padded } from '@hidden-schema/text/text-batches';
import { noGrad } from '@hidden-schema/torch/autograd';
import { stack } from '@hidden-schema/torch/functional';
import { Generator } from '@hidden-schema/torch/random';
import { scope } from '@hidden-schema/torch/scope';
import type { Tensor } from '@hidden-schema/torch/tensor';
import type { Rival } from './rival.ts';

/** A rival's two directions: sentences to latents, and latents to sentences. */
export class RivalTexts {
  readonly model: Rival;
  readonly tokenizers: Tokenizers;
  readonly frames: Frames;

  constructor(model: Rival, tokenizers: Tokenizers) {
    this.model = model;
    this.tokenizers = tokenizers;
    const { whole, longest } = model.config.decoder;
    this.frames = framesOf(tokenizers, whole ? longest : undefined);
  }

  /** The latents that texts are read as, a tensor each. */
  async read(texts: readonly string[]): Promise<Tensor[]> {
    const empty = texts.findIndex((text) => text.trim() === '');
    if (empty >= 0) throw new UserError('a latent is read from a sentence, got an empty one');
    const { model } = this;
    const longest = Math.min(model.config.encoder.longest, model.encoder.base.positions);
    const reading = { specials: true, literal: true, longest };
    const encoded = await this.tokenizers.encoder.encodeBatch(texts, reading);
    model.train(false);
    const batch = {
      encoder: padded(
        encoded.map(({ ids }) => ids),
        this.frames.encoder,
      ),
    };
    return scope(() => noGrad(() => model.read(model.beliefs(batch)).unbind(0)));
  }

  /** Latents from the prior, a tensor each. */
  fromPrior(count: number, seed = this.model.config.seed): Tensor[] {
    return scope(() => noGrad(() => this.model.fromPrior(count, new Generator(seed)).unbind(0)));
  }

  /** A sentence about each latent; at temperature 0, the default, the most probable token after token. */
  async write(latents: readonly Tensor[], options: Omit<WritingOptions, 'count'> = {}): Promise<string[]> {
    const { seed = this.model.config.seed, ...rest } = options;
    this.model.train(false);
    const schema = scope(() => noGrad(() => this.model.schema(stack(latents))));
    try {
      return await written(this.model.decoder, this.tokenizers, schema, {
        ...rest,
        seed,
        count: latents.length,
      });
    } finally {
      schema.free();
    }
  }

  /** The way from one sentence to another in so many steps, each written out. */
  async between(
    first: string,
    second: string,
    options: Omit<WritingOptions, 'count'> & { steps: number },
  ): Promise<string[]> {
    const { steps, ...writing } = options;
    if (!(Number.isInteger(steps) && steps >= 1))
      throw new UserError(`an interpolation takes at least one step, got ${steps}`);
    const [a, b] = await this.read([first.trim(), second.trim()]);
    const way = scope(() => noGrad(() => this.model.way(a!, b!, steps)));
    try {
      return await this.write(way, writing);
    } finally {
      for (const tensor of [a!, b!, ...way]) tensor.free();
    }
  }
}
