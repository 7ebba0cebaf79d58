import { UserError } from '@hidden-schema/base';
import { tokenPassages } from '@hidden-schema/text/passages';
import { type Frames, type PaddedIds, padded, rowsOfPadded } from '@hidden-schema/text/text-batches';
import { cat, Generator, int64, noGrad, scope, type Tensor, withoutGrad } from '@hidden-schema/torch';
import type { SamplingOptions } from '@hidden-schema/transformers/generation';
import type { LanguageDecoder } from '@hidden-schema/transformers/language-decoder';
import { unitRows } from '../../discovery/dictionary.ts';
import { textPoints } from '../../discovery/passages.ts';
import type { PointBatch, PursuitEncoder } from '../../discovery/pursuit-encoder.ts';
import { encodeTexts, storedMemory, vectorRows } from '../../discovery/vectors/text-vectors.ts';
import type { BestWalk } from '../../walk/best.ts';
import type { WalkPosterior } from '../../walk/posterior.ts';
import { framesOf, type Tokenizers } from './build.ts';
import { type LanguageNetwork, type ReadTexts, readGraph, schemaOf } from './network.ts';

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
  return int64(nodes, [best.length, nodes.length / best.length]);
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
    const { whole, longest } = model.config.decoder;
    this.frames = framesOf(tokenizers, whole ? longest : undefined);
  }

  /**
   * The most probable walk of each text. It is read where every link weighs its probability (`readGraph`), so that no draw
   * decides what is read. `cut` counts texts of which only the beginning was read; with `discovery.passages` all is read.
   * `remember`: vectors come from the cache, as far as it has them, and stay there; `known` counts those.
   */
  async read(
    texts: readonly string[],
    { remember = false }: { remember?: boolean } = {},
  ): Promise<{ walks: BestWalk[]; cut: number; known: number }> {
    const { config, encoder: reader } = this.model;
    if (config.baseline) throw new UserError('a baseline has no symbols, so it reads no walks');
    const memory =
      remember && reader.reads === 'points' && reader.frozen ? storedMemory(reader.base) : undefined;
    let known = 0;
    const { results: walks, cut } = await this.#inBatches(texts, (encoder) => {
      if (!memory || reader.reads !== 'points') return this.readBatch({ encoder });
      const tokens = rowsOfPadded(encoder);
      known += tokens.filter((ids) => memory.find(memory.keyOf(ids))).length;
      return scope(() => {
        const vectors = vectorRows(reader.base, tokens);
        return this.readBatch({ encoder, points: noGrad(() => reader.points(tokens, vectors)) });
      });
    });
    if (cut.length === 0 || !config.discovery.passages) return { walks, cut: cut.length, known };
    for (const at of cut)
      walks[at] = await this.#withPassages(texts[at]!, (passages) => this.readBatch(passages)[0]!);
    return { walks, cut: 0, known };
  }

  /** Texts as points of length one in the space that symbols are vectors in; nothing where walks are read otherwise. [N][S] */
  async points(texts: readonly string[]): Promise<Float32Array[] | undefined> {
    const { encoder: reader } = this.model;
    if (reader.reads !== 'points') return undefined;
    this.model.train(false);
    const { results, cut } = await this.#inBatches(texts, (encoder) => {
      const placed = reader.pointsOf({ encoder });
      const all = placed.toArray() as Float32Array;
      const width = placed.dim(1);
      placed.free();
      return Array.from({ length: encoder.lengths.length }, (_, b) => all.slice(b * width, (b + 1) * width));
    });
    for (const at of this.model.config.discovery.passages ? cut : [])
      results[at] = await this.#withPassages(texts[at]!, (passages) =>
        Float32Array.from(withoutGrad(() => textPoints(passages).toNumbers())),
      );
    return results;
  }

  /** Reads a text that is longer than the encoder reads at once as the points of its passages. */
  async #withPassages<T>(
    text: string,
    read: (batch: PointBatch & { points: Tensor; passages: Int32Array }) => T,
  ): Promise<T> {
    const { encoder: tokenizer } = this.tokenizers;
    const reader = this.model.encoder as PursuitEncoder;
    const ids = (await tokenPassages(text, tokenizer, this.longestRead)).map((passage) => passage.ids);
    const parts: Tensor[] = [];
    for (let first = 0; first < ids.length; first += readAtOnce) {
      const encoder = padded(ids.slice(first, first + readAtOnce), this.frames.encoder);
      parts.push(reader.pointsOf({ encoder }));
    }
    const points = cat(parts, 0);
    for (const part of parts) part.free();
    try {
      const encoder = padded(ids.slice(0, 1), this.frames.encoder);
      return read({ encoder, points, passages: Int32Array.of(ids.length) });
    } finally {
      points.free();
    }
  }

  /** Symbols as vectors of length one in that space. [K][S] */
  symbolVectors(): Float32Array[] {
    const rows = withoutGrad(() => unitRows(this.model.symbols.rows()));
    const all = rows.toArray() as Float32Array;
    const [K, S] = rows.shape as [number, number];
    rows.free();
    return Array.from({ length: K }, (_, k) => all.slice(k * S, (k + 1) * S));
  }

  /** Tokens of texts, some at a time, those of like length together so that little is padding; results in order, and which texts were cut. */
  async #inBatches<T>(
    texts: readonly string[],
    each: (encoder: PaddedIds) => readonly T[],
  ): Promise<{ results: T[]; cut: number[] }> {
    const options = { specials: true, literal: true, longest: this.longestRead };
    const encoded = await this.tokenizers.encoder.encodeBatch(texts, options);
    const order = Array.from(encoded.keys()).sort((a, b) => encoded[a]!.ids.length - encoded[b]!.ids.length);
    const results = new Array<T>(encoded.length);
    for (let first = 0; first < order.length; first += readAtOnce) {
      const places = order.slice(first, first + readAtOnce);
      const some = each(
        padded(
          places.map((place) => encoded[place]!.ids),
          this.frames.encoder,
        ),
      );
      for (const [i, place] of places.entries()) results[place] = some[i]!;
    }
    const cut = Array.from(encoded.keys()).filter((n) => encoded[n]!.lost > 0);
    return { results, cut };
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

  /** q(z|x) of a batch, on the graph that texts are read on. */
  posterior(batch: Pick<ReadTexts, 'encoder' | 'points' | 'passages'>): WalkPosterior {
    return this.model.posterior(this.model.encoder.scores(batch), readGraph(this.model));
  }

  /** The most probable walk of each sentence of a batch, with the weights of its steps where it has some. */
  readBatch(batch: Pick<ReadTexts, 'encoder' | 'points' | 'passages'>): BestWalk[] {
    const { model } = this;
    model.train(false);
    return withoutGrad(() => {
      const { encoder } = model;
      if (encoder.reads === 'states') return this.posterior(batch).best();
      const placed = { ...batch, points: encoder.pointsOf(batch) };
      const best = this.posterior(placed).best();
      const weights = encoder.weights(placed, nodesOf(best)).toNumbers();
      const L = best[0]?.walk.length ?? 0;
      return best.map((one, b) => ({ ...one, weights: weights.slice(b * L, (b + 1) * L) }));
    });
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
  const { generate } = await import('@hidden-schema/transformers/generation');
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
