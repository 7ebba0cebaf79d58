import { UserError } from '@hidden-schema/base';
import { Tensor } from '@hidden-schema/torch';
import { KeyValueCache } from './cache.ts';
import { checkPrompts, type GenerationOptions, prompted, withoutTraining } from './generation.ts';
import type { LanguageDecoder, Prompted } from './language-decoder.ts';

// Shapes: R hypotheses side by side, V vocabulary.

export interface BeamOptions extends Pick<GenerationOptions, 'prompts' | 'end' | 'maxNewTokens'> {
  /** What each continuation is about. [prompts, L, S] */
  schema?: Tensor;
  /** Hypotheses that are kept, and given back. */
  beams: number;
  /** Hypotheses are compared by log-probability over length to this power; 1 unless said. */
  lengthPenalty?: number;
}

export interface Hypothesis {
  /** New tokens, without the one that ended it. */
  tokens: number[];
  /** Of the new tokens, that of the end included. */
  logProb: number;
  /** What it was ranked by. */
  score: number;
}

interface Open {
  tokens: number[];
  logProb: number;
}

/** The most probable continuations of each prompt that a beam of so many finds, the best first. */
export function beamSearch(decoder: LanguageDecoder, options: BeamOptions): Hypothesis[][] {
  checkPrompts(decoder, options);
  if (!(Number.isInteger(options.beams) && options.beams >= 1 && 2 * options.beams <= decoder.vocabularySize))
    throw new UserError(
      `beams are a whole number from 1 to half the vocabulary (${Math.floor(decoder.vocabularySize / 2)}), got ${options.beams}`,
    );
  return options.prompts.map((prompt, at) => {
    const own = options.schema?.narrow(0, at, 1).expand(options.beams, -1, -1);
    const search = new Beam(decoder, prompt, { ...options, ...(own ? { schema: own } : {}) });
    try {
      return search.run();
    } finally {
      search.free();
    }
  });
}

/** The search of one prompt; all of its hypotheses read the same. */
class Beam {
  readonly #decoder: LanguageDecoder;
  readonly #options: BeamOptions;
  readonly #ends: ReadonlySet<number>;
  readonly #start: readonly number[];
  readonly #memory: Prompted['memory'];
  readonly #cache: KeyValueCache;
  readonly #limit: number;
  readonly #penalty: number;
  #open: Open[];
  #finished: Hypothesis[] = [];

  constructor(decoder: LanguageDecoder, prompt: readonly number[], options: BeamOptions) {
    const rows = Array.from({ length: options.beams }, () => prompt);
    const { starts, memory } = prompted(decoder, rows);
    this.#decoder = decoder;
    this.#options = options;
    this.#ends = new Set([options.end ?? []].flat());
    this.#start = starts[0]!;
    this.#memory = memory;
    this.#limit = Math.min(options.maxNewTokens, decoder.maxPositions - this.#start.length);
    this.#cache = new KeyValueCache(this.#start.length + Math.max(1, this.#limit));
    this.#penalty = options.lengthPenalty ?? 1;
    // Equal at the start, so that only the first may go on.
    this.#open = rows.map((_, i) => ({ tokens: [], logProb: i === 0 ? 0 : Number.NEGATIVE_INFINITY }));
  }

  run(): Hypothesis[] {
    for (let step = 0; step < this.#limit; step++) {
      this.#advance(step);
      if (this.#isDone(step + 1)) return this.#best();
    }
    for (const { tokens, logProb } of this.#open) this.#finish(tokens, logProb, tokens.length);
    return this.#best();
  }

  free(): void {
    this.#cache.free();
    this.#memory?.states.free();
    this.#memory?.mask.free();
  }

  #advance(step: number): void {
    withoutTraining(this.#decoder, () => {
      const next: (Open & { from: number })[] = [];
      for (const { from, token, logProb } of this.#candidates(step)) {
        const { tokens } = this.#open[from]!;
        if (!this.#ends.has(token)) next.push({ tokens: [...tokens, token], logProb, from });
        // An end counts only among the best: behind them it would never have been looked at.
        else if (next.length < this.#options.beams) this.#finish(tokens, logProb, step + 1);
        if (next.length === this.#options.beams) break;
      }
      this.#open = next;
      this.#cache.reorder(int64(next.map(({ from }) => from)));
    });
  }

  /** The best continuations by one token of all hypotheses, twice as many as there are, falling. */
  #candidates(step: number): { from: number; token: number; logProb: number }[] {
    const rows = this.#open.map(({ tokens }) => (step === 0 ? this.#start : [tokens.at(-1)!]));
    const width = rows[0]!.length;
    const ids = int64(rows.flat()).reshape(rows.length, width);
    const memory = this.#memory ? { memory: this.#memory } : {};
    const states = this.#decoder.hidden(ids, this.#options.schema, { cache: this.#cache, ...memory });
    const scores = this.#decoder
      .logits(states.select(1, width - 1))
      .to('float64')
      .logSoftmax(-1); // [R, V]
    const before = Tensor.fromArray(
      Float64Array.from(this.#open, ({ logProb }) => logProb),
      [rows.length, 1],
    );
    const vocabulary = scores.dim(1);
    const { values, indices } = scores
      .add(before)
      .reshape(-1)
      .topk(2 * this.#options.beams, -1);
    const places = indices.toNumbers();
    return values.toNumbers().map((logProb, i) => ({
      from: Math.floor(places[i]! / vocabulary),
      token: places[i]! % vocabulary,
      logProb,
    }));
  }

  #finish(tokens: number[], logProb: number, length: number): void {
    this.#finished.push({ tokens, logProb, score: logProb / length ** this.#penalty });
  }

  /** Whether no open hypothesis would rank among the finished ones if it ended now. */
  #isDone(length: number): boolean {
    const best = this.#best();
    if (best.length < this.#options.beams) return false;
    return best.at(-1)!.score >= this.#open[0]!.logProb / length ** this.#penalty;
  }

  #best(): Hypothesis[] {
    return this.#finished.sort((a, b) => b.score - a.score).slice(0, this.#options.beams);
  }
}

const int64 = (values: readonly number[]): Tensor =>
  Tensor.fromArray(BigInt64Array.from(values, BigInt), [values.length]);
