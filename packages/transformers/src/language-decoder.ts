import { UserError } from '@hidden-schema/base';
import { idsTensor, type PaddedIds } from '@hidden-schema/text/text-batches';
import { cat, fewLinear, full, type Generator, nn, rand, type Tensor, zeros } from '@hidden-schema/torch';
import type { KeyValueCache, Memory } from './cache.ts';
import type { AttentionContext, SchemaInput } from './symbol-attention.ts';
import { defaultLogitBudget, predictionsOf, tokenLosses } from './token-loss.ts';

// Shapes: B sentences, T tokens, L walk steps, S width of a symbol, D width, V vocabulary.

export interface HiddenOptions {
  /** Read on from here: positions and keys continue, for inference without gradients. */
  cache?: KeyValueCache | undefined;
  wordDropout?: WordDropout | undefined;
  /** Filled with each layer's attention onto the symbols. [B, heads, T, L] */
  attention?: Tensor[];
  /** What an encoder of the decoder's own has read. */
  memory?: Memory | undefined;
}

/** Prompts as a decoder takes them. */
export interface Prompted {
  /** The tokens that each sentence starts with. */
  readonly starts: readonly (readonly number[])[];
  /** What was read of the prompts besides, where a decoder reads apart from writing. */
  readonly memory?: Memory;
}

export interface NllOptions {
  wordDropout?: WordDropout;
  /** The first tokens of each sentence that are given and not predicted; 1, the start token, unless said. */
  prefix?: number | readonly number[];
  /** Bytes of logits held at a time. */
  budget?: number;
  /** What an encoder of the decoder's own has read. */
  memory?: Memory;
}

export interface Nll {
  /** −log p(x | schema) of each sentence, in nats. [B] */
  readonly perSentence: Tensor;
  /** Predicted tokens in the batch. */
  readonly tokens: number;
}

/** Sentences to write: start and end token included, with how many first tokens of each are given (1 unless said). */
export interface WritingBatch {
  decoder: PaddedIds;
  prefixes?: readonly number[];
}

/** A causal language model whose layers also attend to a schema: π_i = softmax(W·h^dec(x_{<i}, e_{j_1:j_L})). */
export abstract class LanguageDecoder extends nn.Module {
  /** Share of words hidden from it while it learns to write from a schema. */
  wordDropout = 0;
  wordDropoutBy: WordDropout['how'] = 'replace';
  abstract readonly vocabularySize: number;
  /** Tokens that it can read, the start token included. */
  abstract readonly maxPositions: number;
  /** Layers that low-rank adapters go to unless others are named. */
  abstract readonly adapterTargets: readonly string[];
  /** config.json in Hugging Face's terms, with the symbols under `hsn`. */
  abstract configOf(): Record<string, unknown>;
  /** W of the class probabilities. [V, D] */
  protected abstract get output(): Tensor;
  /** The symbols' shared part, where the decoder takes symbols. */
  protected abstract get symbolInput(): SchemaInput | undefined;
  /** Width of one layer's keys. */
  protected abstract readonly keyWidth: number;
  /** Token embeddings. [.., D] */
  protected abstract embed(tokens: Tensor): Tensor;
  /** Embeddings [B, T, D] whose first stands at position `start`, through all layers and the last norm. */
  protected abstract through(embedded: Tensor, start: number, context: AttentionContext): Tensor;

  /** States before the output matrix, for token numbers [B, T] and a schema [B, L, S]. [B, T, D] */
  hidden(tokens: Tensor, schema?: Tensor, options: HiddenOptions = {}): Tensor {
    const { cache, wordDropout, memory } = options;
    const [batch, time] = tokens.shape as [number, number];
    const start = cache?.length ?? 0;
    this.#checkLength(start + time);
    const dropped = wordDropout && wordDropout.rate > 0 ? droppedWords(batch, time, wordDropout) : undefined;
    const plain = this.embed(tokens);
    const words =
      dropped && wordDropout?.how === 'replace' ? this.#replaced(plain, dropped, wordDropout) : plain;
    const prepared = schema && this.#symbols().prepare(schema, batch, this.keyWidth);
    const embedded = prepared?.added ? words.add(prepared.added) : words;
    const symbols = prepared && this.#symbols().attended ? prepared.rows.dim(1) : 0;
    const causal = time === 1 ? undefined : causalMask(time, symbols + start, embedded);
    const hiding =
      dropped && wordDropout?.how === 'mask' ? hidingMask(dropped, symbols, embedded) : undefined;
    const mask = causal && hiding ? causal.add(hiding) : causal;
    const context = { mask, schema: prepared, cache, attention: options.attention, memory };
    const states = this.through(embedded, start, context);
    cache?.advance(time);
    return states;
  }

  /** How sentences start that go on from prompts: with them, unless the decoder reads them apart. */
  prompted(prompts: readonly (readonly number[])[]): Prompted {
    return { starts: prompts };
  }

  /** Scores of the next token from states [.., D]. [.., V] */
  logits(hidden: Tensor): Tensor {
    return fewLinear(hidden, this.output);
  }

  /**
   * Negative log-likelihood of sentences [B, T], start and end token included and padded on the right to T, with their
   * `lengths`. Only real targets reach the output matrix, in slices of bounded size. Where there are several slices,
   * gradients are right for losses that weigh all sentences of the batch alike (a sum, a mean); set `budget` to
   * Infinity to weigh them apart.
   */
  nll(tokens: Tensor, schema: Tensor | undefined, lengths: readonly number[], options: NllOptions = {}): Nll {
    const [batch, time] = tokens.shape as [number, number];
    if (lengths.length !== batch)
      throw new RangeError(`${batch} sentences came with ${lengths.length} lengths`);
    const { rows, places, count } = predictionsOf(lengths, time, options.prefix);
    if (count === 0) return { perSentence: zeros([batch], { dtype: this.output.dtype }), tokens: 0 };
    const { wordDropout, memory } = options;
    const states = this.hidden(tokens.narrow(1, 0, time - 1), schema, { wordDropout, memory });
    const real = states.reshape(batch * (time - 1), states.dim(2)).indexSelect(0, rows); // [N, D]
    const targets = tokens
      .narrow(1, 1, time - 1)
      .reshape(-1)
      .indexSelect(0, rows)
      .to('int64');
    const budget = options.budget ?? defaultLogitBudget;
    const { losses, outputTerm } = tokenLosses(real, this.output, targets, budget);
    const padded = cat([losses, zeros([1], { dtype: losses.dtype, device: losses.device })]);
    const sums = padded
      .indexSelect(0, places)
      .reshape(batch, time - 1)
      .sum(1);
    // Shared out evenly, so that the sum over sentences carries it once.
    return { perSentence: outputTerm ? sums.add(outputTerm.div(batch)) : sums, tokens: count };
  }

  /** log p(x|z) of a batch; without a schema log p(x). */
  logLikelihood(
    { decoder: ids, prefixes }: WritingBatch,
    schema: { vectors(): Tensor } | undefined,
    generator: Generator,
  ): Nll {
    const rate = schema && this.training ? this.wordDropout : 0;
    const { perSentence, tokens } = this.nll(idsTensor(ids), schema?.vectors(), [...ids.lengths], {
      ...(prefixes ? { prefix: prefixes } : {}),
      ...(rate > 0 ? { wordDropout: { rate, how: this.wordDropoutBy, generator } } : {}),
    });
    return { perSentence: perSentence.neg(), tokens };
  }

  /** Whether symbols come as vectors of their own, not as numbers. */
  get readsVectors(): boolean {
    return this.symbolInput?.vectors ?? false;
  }

  #symbols(): SchemaInput {
    if (!this.symbolInput)
      throw new UserError('this decoder was made without symbols, it cannot take a schema');
    return this.symbolInput;
  }

  #checkLength(length: number): void {
    if (length > this.maxPositions)
      throw new RangeError(
        `this decoder reads at most ${this.maxPositions} tokens, got ${length}: cut the text`,
      );
  }

  #replaced(embedded: Tensor, dropped: Tensor, dropout: WordDropout): Tensor {
    const filler =
      dropout.token === undefined ? undefined : this.embed(full([1], dropout.token, { dtype: 'int64' }));
    return replaceWords(embedded, dropped, filler?.squeeze(0));
  }
}

/** Query i sees the `before` keys that are there for all, and the tokens up to itself. [T, before + T] */
const causalMask = (time: number, before: number, like: Tensor): Tensor =>
  full([time, before + time], Number.NEGATIVE_INFINITY, optionsOf(like)).triu(before + 1);

// Shapes: B sentences, T tokens, L walk steps, D width.

/**
 * Word dropout on the decoder's input (appendix F.1), so that it cannot lean on the words alone. A dropped word keeps
 * its position; the first token, which starts the sentence, is never dropped.
 */
export interface WordDropout {
  /** Probability of dropping a word. */
  rate: number;
  /** replace: the word's embedding goes. mask: no query may look at the word, as in the authors' program. */
  how: 'replace' | 'mask';
  /** replace: the token that comes instead; without it the embedding is zero. */
  token?: number;
  generator: Generator;
}

/** Which input tokens are dropped, as 0 and 1. [B, T] */
export function droppedWords(batch: number, length: number, { rate, generator }: WordDropout): Tensor {
  if (!(rate >= 0 && rate < 1)) throw new RangeError(`a word dropout rate lies in [0, 1), got ${rate}`);
  const first = zeros([batch, 1]);
  if (length === 1) return first;
  const rest = rand([batch, length - 1], generator)
    .lt(rate)
    .to('float32');
  return cat([first, rest], 1);
}

/** Token embeddings [B, T, D] with those of dropped words replaced by `filler` [D], or by nothing. */
export function replaceWords(embedded: Tensor, dropped: Tensor, filler: Tensor | undefined): Tensor {
  const gone = dropped.to(embedded.dtype).unsqueeze(-1);
  const kept = embedded.mul(gone.neg().add(1));
  return filler ? kept.add(gone.mul(filler)) : kept;
}

/** A mask that hides dropped words from every query and leaves the L symbols in sight. [B, 1, 1, L + T] */
export function hidingMask(dropped: Tensor, symbols: number, like: Tensor): Tensor {
  const options = optionsOf(like);
  const words = zeros(dropped.shape, options).maskedFill(dropped.gt(0), Number.NEGATIVE_INFINITY);
  const all = symbols === 0 ? words : cat([zeros([dropped.dim(0), symbols], options), words], 1);
  return all.unsqueeze(1).unsqueeze(1);
}

const optionsOf = ({ dtype, device }: Tensor) => ({ dtype, device });
