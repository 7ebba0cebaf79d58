import { setImmediate } from 'node:timers/promises';
import { UserError } from '@hidden-schema/base';
import { type Generator, rand, Tensor, where } from '@hidden-schema/torch';
import { Reading } from './cache.ts';
import type { LanguageDecoder } from './language-decoder.ts';

// Shapes: B sentences, L walk steps, S width of a symbol.

export interface GenerationOptions extends SamplingOptions {
  /** Tokens that each sentence starts with; at least the start token. */
  prompts: readonly (readonly number[])[];
  /** What the sentences are about. [B, L, S] */
  schema?: Tensor;
  /** Tokens that end a sentence. */
  end?: number | readonly number[];
  /** New tokens a sentence gets at most; fewer where the decoder's positions run out. */
  maxNewTokens: number;
  /** Source of the draws; not needed at temperature 0. */
  generator?: Generator;
  /** Keep keys and values of what was read; off to read everything again for each token. */
  cached?: boolean;
  /** Stops before the next token. */
  signal?: AbortSignal;
  /** Called after each step with the new token of each sentence, undefined where there is none. */
  onTokens?: (tokens: readonly (number | undefined)[], step: number) => void;
}

export interface Generated {
  /** New tokens, without the one that ended the sentence. */
  tokens: number[];
  /** Why it ended: an end token, the limit, or the caller. */
  finish: 'end' | 'length' | 'stopped';
}

interface Sentence extends Generated {
  readonly all: number[];
  readonly prompted: number;
  readonly seen: Set<number>;
  done: boolean;
}

/** Continues prompts under a schema, token by token; between tokens other work of the process gets its turn. */
export async function generate(decoder: LanguageDecoder, options: GenerationOptions): Promise<Generated[]> {
  const run = new Generation(decoder, options);
  try {
    while (run.step()) await setImmediate();
    return run.results();
  } finally {
    run.free();
  }
}

/** The same without giving way to other work. */
export function generateSync(decoder: LanguageDecoder, options: GenerationOptions): Generated[] {
  const run = new Generation(decoder, options);
  try {
    while (run.step());
    return run.results();
  } finally {
    run.free();
  }
}

class Generation {
  readonly #options: GenerationOptions;
  readonly #sentences: Sentence[];
  readonly #ends: ReadonlySet<number>;
  readonly #reading: Reading;
  /** Tokens of each sentence that were read. */
  #read = 0;
  #step = 0;

  constructor(decoder: LanguageDecoder, options: GenerationOptions) {
    checkSampling(options);
    checkPrompts(decoder, options);
    this.#options = options;
    this.#reading = new Reading(decoder, options);
    this.#sentences = this.#reading.starts.map((start, i) => ({
      all: [...start],
      prompted: start.length,
      seen: new Set([...options.prompts[i]!, ...start]),
      tokens: [],
      finish: 'length',
      done: options.maxNewTokens === 0,
    }));
    this.#ends = new Set([options.end ?? []].flat());
  }

  /** One token more for each open sentence; false when all are done. */
  step(): boolean {
    const open = this.#sentences.filter((sentence) => !sentence.done);
    if (open.length === 0) return false;
    if (this.#options.signal?.aborted) {
      for (const sentence of open) Object.assign(sentence, { done: true, finish: 'stopped' });
      return false;
    }
    // Longer prompts are fed token by token once the shortest has been read, so that all rows stay in step.
    const length = this.#step === 0 ? Math.min(...this.#sentences.map((s) => s.prompted)) : this.#read + 1;
    const next = this.#predict(length);
    this.#read = length;
    const fresh = this.#sentences.map((sentence, b) => this.#take(sentence, next[b]!, length));
    if (fresh.some((token) => token !== undefined)) this.#options.onTokens?.(fresh, this.#step);
    this.#step++;
    if (length + 1 > this.#reading.limit) for (const sentence of this.#sentences) sentence.done = true;
    return this.#sentences.some((sentence) => !sentence.done);
  }

  results(): Generated[] {
    return this.#sentences.map(({ tokens, finish }) => ({ tokens, finish }));
  }

  free(): void {
    this.#reading.free();
  }

  /** The token that would follow the first `length` of each sentence. */
  #predict(length: number): number[] {
    const start = this.#options.cached === false ? 0 : this.#read;
    const rows = this.#sentences.map(({ all }) => all.slice(start, length));
    const seen = this.#sentences.map((sentence) => sentence.seen);
    return this.#reading.scored(rows, (scores) =>
      nextTokens(scores, seen, this.#options, this.#options.generator),
    );
  }

  /** Adds a token to a sentence that is open and has no prompt left; gives it back if it is new text. */
  #take(sentence: Sentence, token: number, length: number): number | undefined {
    if (length < sentence.prompted) return undefined;
    sentence.all.push(token);
    if (sentence.done) return undefined;
    if (this.#ends.has(token)) {
      sentence.done = true;
      sentence.finish = 'end';
      return undefined;
    }
    sentence.tokens.push(token);
    sentence.seen.add(token);
    if (sentence.tokens.length >= this.#options.maxNewTokens) sentence.done = true;
    return token;
  }
}

/** Refuses prompts that a decoder cannot read. */
export function checkPrompts(
  decoder: LanguageDecoder,
  options: Pick<GenerationOptions, 'prompts' | 'maxNewTokens'>,
): void {
  const { prompts, maxNewTokens } = options;
  if (!(Number.isInteger(maxNewTokens) && maxNewTokens >= 0))
    throw new UserError(`the number of new tokens is a whole number from 0, got ${maxNewTokens}`);
  if (prompts.length === 0) throw new UserError('there is no prompt to continue');
  for (const [i, prompt] of prompts.entries()) {
    if (prompt.length === 0)
      throw new UserError(`prompt ${i} is empty: it takes at least the token that starts a sentence`);
    if (prompt.length > decoder.maxPositions)
      throw new UserError(
        `prompt ${i} has ${prompt.length} tokens, this decoder reads at most ${decoder.maxPositions}: cut it`,
      );
    const strange = prompt.find((id) => !(Number.isInteger(id) && id >= 0 && id < decoder.vocabularySize));
    if (strange !== undefined)
      throw new UserError(
        `prompt ${i} has token ${strange}, this decoder knows 0 to ${decoder.vocabularySize - 1}: is the tokenizer its own?`,
      );
  }
}

// Shapes: B sentences, V vocabulary, k candidates.

/** How the next token is drawn. */
export interface SamplingOptions {
  /** Divides the scores; 0, the default, takes the best token. */
  temperature?: number;
  /** Only the k best tokens. */
  topK?: number;
  /** Only the best tokens that together have this probability. */
  topP?: number;
  /** Above 1, tokens that are already there become less likely: positive scores are divided by it, others multiplied. */
  repetitionPenalty?: number;
}

export function checkSampling(options: SamplingOptions): void {
  const { temperature = 0, topK, topP, repetitionPenalty = 1 } = options;
  if (!(temperature >= 0 && Number.isFinite(temperature)))
    throw new UserError(`temperature is a number from 0 (always the best token), got ${temperature}`);
  if (topK !== undefined && !(Number.isInteger(topK) && topK >= 1))
    throw new UserError(`top-k is a whole number from 1, got ${topK}`);
  if (topP !== undefined && !(topP > 0 && topP <= 1))
    throw new UserError(`top-p is a probability in (0, 1], got ${topP}`);
  if (!(repetitionPenalty > 0 && Number.isFinite(repetitionPenalty)))
    throw new UserError(`the repetition penalty is a positive number, got ${repetitionPenalty}`);
}

/** The next token of each sentence from scores [B, V]; each draw takes one number from the generator. */
export function nextTokens(
  logits: Tensor,
  seen: readonly ReadonlySet<number>[],
  options: SamplingOptions,
  generator: Generator | undefined,
): number[] {
  const { temperature = 0, topK, topP, repetitionPenalty = 1 } = options;
  const scores = repetitionPenalty === 1 ? logits : penalised(logits, seen, repetitionPenalty);
  if (temperature === 0) return scores.argmax(-1).toNumbers();
  if (!generator) throw new TypeError('drawing tokens needs a generator; temperature 0 does without');
  const vocabulary = scores.dim(1);
  const all = scores.to('float64').div(temperature);
  if (topK === undefined && (topP === undefined || topP === 1))
    return drawn(all.softmax(-1), generator).toNumbers();
  const { values, indices } = all.topk(Math.min(topK ?? vocabulary, vocabulary), -1); // [B, k], falling
  const probabilities = nucleus(values.softmax(-1), topP ?? 1);
  const choice = drawn(probabilities, generator).unsqueeze(1);
  return indices.gather(1, choice).squeeze(1).toNumbers();
}

/** Zeroes what lies behind the first tokens that reach `mass`; the best token always stays. */
function nucleus(falling: Tensor, mass: number): Tensor {
  if (mass === 1) return falling;
  const before = falling.cumsum(-1).sub(falling);
  return falling.mul(before.lt(mass).to(falling.dtype));
}

/** An index from each row of weights, by inverting the cumulative sum at one uniform number. [B] int64 */
function drawn(weights: Tensor, generator: Generator): Tensor {
  const cumulative = weights.cumsum(-1);
  const total = cumulative.narrow(-1, weights.dim(1) - 1, 1);
  const at = rand([weights.dim(0), 1], generator, { dtype: 'float64' }).mul(total);
  // Of a zero weight the sum does not rise, so the first index past the number always has weight.
  return cumulative.gt(at).to('int64').argmax(-1);
}

function penalised(logits: Tensor, seen: readonly ReadonlySet<number>[], penalty: number): Tensor {
  const [batch, vocabulary] = logits.shape as [number, number];
  const marks = new Uint8Array(batch * vocabulary);
  for (const [b, tokens] of seen.entries()) for (const token of tokens) marks[b * vocabulary + token] = 1;
  const there = Tensor.fromArray(marks, [batch, vocabulary]).gt(0);
  const lower = where(logits.gt(0), logits.div(penalty), logits.mul(penalty));
  return where(there, lower, logits);
}
