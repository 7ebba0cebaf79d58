import { UserError } from '@hidden-schema/base';
import { type Frames, padded } from '@hidden-schema/text';
import { Generator, noGrad, scope, Tensor } from '@hidden-schema/torch';
import { generate, type LanguageDecoder, type SamplingOptions } from '@hidden-schema/transformers';
import { encodeTexts } from '../../discovery/index.ts';
import type { BestWalk } from '../../walk/index.ts';
import { framesOf, type Tokenizers } from './build.ts';
import type { LanguageNetwork, ReadTexts } from './network.ts';
import { schemaOf } from './perplexity.ts';

/** How sentences are written about a walk. */
export interface WritingOptions extends SamplingOptions {
  /** Sentences to write. */
  count?: number;
  /** Draws them; the same seed writes the same sentences. */
  seed?: number;
  /** Tokens of a sentence, at most. */
  maxTokens?: number;
  /** Stops before the next token; what is written by then is returned. */
  signal?: AbortSignal;
  /** Called after each step of all sentences. */
  onToken?: () => void;
}

const defaultTokens = 60;
/** Sentences that are read at once. */
export const readAtOnce = 64;

/** Walks as node numbers. [B, L] int64 */
function nodesOf(best: readonly BestWalk[]): Tensor {
  const nodes = best.flatMap(({ walk }) => walk);
  return Tensor.fromArray(BigInt64Array.from(nodes, BigInt), [best.length, nodes.length / best.length]);
}

/** A language model's two directions: sentences to walks, and walks to sentences. */
export class LanguageTexts {
  readonly model: LanguageNetwork;
  readonly tokenizers: Tokenizers;
  readonly frames: Frames;
  /** Whether the decoder has learnt anything: not where symbols were discovered and no more. */
  readonly writes: boolean;

  constructor(model: LanguageNetwork, tokenizers: Tokenizers, { writes = true } = {}) {
    this.writes = writes;
    this.model = model;
    this.tokenizers = tokenizers;
    this.frames = framesOf(tokenizers);
  }

  /**
   * The most probable walk of each text. It is read on the expected graph, where every link weighs its probability,
   * so that no draw decides what is read. `cut` counts texts longer than the encoder reads.
   */
  async read(texts: readonly string[]): Promise<{ walks: BestWalk[]; cut: number }> {
    const { config } = this.model;
    if (config.baseline) throw new UserError('a baseline has no symbols, so it reads no walks');
    const longest = this.longestRead;
    const encoded = await this.tokenizers.encoder.encodeBatch(texts, {
      specials: true,
      literal: true,
      longest,
    });
    // Those of like length together, so that little is padding.
    const order = Array.from(encoded.keys()).sort((a, b) => encoded[a]!.ids.length - encoded[b]!.ids.length);
    const walks = new Array<BestWalk>(encoded.length);
    for (let first = 0; first < order.length; first += readAtOnce) {
      const places = order.slice(first, first + readAtOnce);
      const read = this.#readIds(places.map((place) => encoded[place]!.ids));
      for (const [i, place] of places.entries()) walks[place] = read[i]!;
    }
    return { walks, cut: encoded.filter(({ lost }) => lost > 0).length };
  }

  /** Texts, or words, as unit vectors of the encoder, a row each. [N·D] */
  async vectors(texts: readonly string[]): Promise<Float32Array> {
    const { encoder } = this.model;
    const opened = { encoder: encoder.base, tokenizer: this.tokenizers.encoder };
    const vectors = await encodeTexts(texts, opened, { longest: this.longestRead });
    try {
      return vectors.toArray() as Float32Array;
    } finally {
      vectors.free();
    }
  }

  get longestRead(): number {
    return Math.min(this.model.config.encoder.longest, this.model.encoder.base.positions);
  }

  #readIds(sentences: readonly Int32Array[]): BestWalk[] {
    return this.readBatch({ encoder: padded(sentences, this.frames.encoder) });
  }

  /** The most probable walk of each sentence of a batch, with the weights of its steps where it has some. */
  readBatch(batch: Pick<ReadTexts, 'encoder' | 'points'>): BestWalk[] {
    const { model } = this;
    model.train(false);
    return scope(() =>
      noGrad(() => {
        const { encoder } = model;
        if (encoder.reads === 'states')
          return model.posterior(encoder.scores(batch), model.expectedGraph()).best();
        const placed = { ...batch, points: encoder.pointsOf(batch) };
        const best = model.posterior(encoder.scores(placed), model.expectedGraph()).best();
        const weights = encoder.weights(placed, nodesOf(best)).toNumbers();
        const L = best[0]?.walk.length ?? 0;
        return best.map((one, b) => ({ ...one, weights: weights.slice(b * L, (b + 1) * L) }));
      }),
    );
  }

  /** Sentences about a walk; at temperature 0, the default, the most probable token after token. */
  async write(walk: readonly number[] | undefined, options: WritingOptions = {}): Promise<string[]> {
    const { count = 1, seed = this.model.config.seed, ...rest } = options;
    this.checkWrites();
    if (walk) this.#checkWalk(walk);
    this.model.train(false);
    const walks = walk && Array.from({ length: count }, () => walk);
    const schema = walks && scope(() => schemaOf(this.model, walks));
    try {
      return await written(this.model.decoder, this.tokenizers, schema, { count, seed, ...rest });
    } finally {
      schema?.free();
    }
  }

  /** Refuses to write where the decoder has not learnt to. */
  checkWrites(): void {
    if (!this.writes)
      throw new UserError(
        'this run has discovered symbols and has not learnt to write yet; teach it with: hsn train --out <run> --resume',
      );
  }

  #checkWalk(walk: readonly number[]): void {
    const { symbols, baseline } = this.model.config;
    if (baseline) throw new UserError('a baseline has no symbols, so it cannot write about a walk');
    if (walk.length === 0) throw new UserError('a walk takes at least one symbol');
    const strange = walk.find((symbol) => !(Number.isInteger(symbol) && symbol >= 0 && symbol < symbols));
    if (strange !== undefined)
      throw new UserError(`the symbols of this model are 0 to ${symbols - 1}, got ${strange}`);
  }
}

/** Sentences that a decoder writes about a schema [count, L, S], or by itself. */
export async function written(
  decoder: LanguageDecoder,
  tokenizers: Tokenizers,
  schema: Tensor | undefined,
  options: WritingOptions & { count: number; seed: number },
): Promise<string[]> {
  const { count, seed, maxTokens = defaultTokens, onToken, ...sampling } = options;
  const { begin, end } = framesOf(tokenizers).decoder;
  const generated = await generate(decoder, {
    ...sampling,
    prompts: Array.from({ length: count }, () => [begin!]),
    end: end!,
    maxNewTokens: maxTokens,
    generator: new Generator(seed),
    ...(onToken ? { onTokens: () => onToken() } : {}),
    ...(schema ? { schema } : {}),
  });
  return Promise.all(generated.map(async ({ tokens }) => (await tokenizers.decoder.decode(tokens)).trim()));
}
