import { setImmediate } from 'node:timers/promises';
import { UserError } from '@hidden-schema/base';
import { type Generator, noGrad, scope, Tensor } from '@hidden-schema/torch';
import { KeyValueCache } from './cache.ts';
import type { LanguageDecoder, Prompted } from './language-decoder.ts';
import { checkSampling, nextTokens, type SamplingOptions } from './sampling.ts';

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
  readonly #decoder: LanguageDecoder;
  readonly #options: GenerationOptions;
  readonly #sentences: Sentence[];
  readonly #ends: ReadonlySet<number>;
  readonly #cache: KeyValueCache | undefined;
  readonly #memory: Prompted['memory'];
  readonly #limit: number;
  /** Tokens of each sentence that the cache holds. */
  #read = 0;
  #step = 0;

  constructor(decoder: LanguageDecoder, options: GenerationOptions) {
    checkSampling(options);
    checkPrompts(decoder, options);
    this.#decoder = decoder;
    this.#options = options;
    const { starts, memory } = prompted(decoder, options.prompts);
    this.#memory = memory;
    this.#sentences = starts.map((start, i) => ({
      all: [...start],
      prompted: start.length,
      seen: new Set([...options.prompts[i]!, ...start]),
      tokens: [],
      finish: 'length',
      done: options.maxNewTokens === 0,
    }));
    this.#ends = new Set([options.end ?? []].flat());
    const longest = Math.max(...starts.map((start) => start.length));
    this.#limit = Math.min(decoder.maxPositions, longest + options.maxNewTokens);
    this.#cache = options.cached === false ? undefined : new KeyValueCache(this.#limit);
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
    if (length + 1 > this.#limit) for (const sentence of this.#sentences) sentence.done = true;
    return this.#sentences.some((sentence) => !sentence.done);
  }

  results(): Generated[] {
    return this.#sentences.map(({ tokens, finish }) => ({ tokens, finish }));
  }

  free(): void {
    this.#cache?.free();
    this.#memory?.states.free();
    this.#memory?.mask.free();
  }

  /** The token that would follow the first `length` of each sentence. */
  #predict(length: number): number[] {
    const start = this.#cache ? this.#read : 0;
    return withoutTraining(this.#decoder, () => this.#scored(start, length));
  }

  #scored(start: number, length: number): number[] {
    const rows = this.#sentences.map(({ all }) => all.slice(start, length));
    const tokens = Tensor.fromArray(BigInt64Array.from(rows.flat(), BigInt), [rows.length, length - start]);
    const states = this.#decoder.hidden(tokens, this.#options.schema, {
      ...(this.#cache ? { cache: this.#cache } : {}),
      ...(this.#memory ? { memory: this.#memory } : {}),
    });
    const logits = this.#decoder.logits(states.select(1, length - start - 1)); // [B, V]
    const seen = this.#sentences.map((sentence) => sentence.seen);
    return nextTokens(logits, seen, this.#options, this.#options.generator);
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

/** Runs without dropout and gradients; tensors that are to last are kept inside. */
export function withoutTraining<Result>(decoder: LanguageDecoder, run: () => Result): Result {
  const { training } = decoder;
  decoder.train(false);
  try {
    return scope(() => noGrad(run));
  } finally {
    decoder.train(training);
  }
}

/** Prompts as the decoder takes them; what it has read of them lasts until it is freed. */
export function prompted(decoder: LanguageDecoder, prompts: GenerationOptions['prompts']): Prompted {
  return withoutTraining(decoder, () => {
    const { starts, memory } = decoder.prompted(prompts);
    return memory
      ? { starts, memory: { states: memory.states.keep(), mask: memory.mask.keep() } }
      : { starts };
  });
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
