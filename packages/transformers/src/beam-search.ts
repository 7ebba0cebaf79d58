import { UserError } from '@hidden-schema/base';
import { int64, scope, Tensor } from '@hidden-schema/torch';
import { Reading } from './cache.ts';
import { checkPrompts, type GenerationOptions } from './generation.ts';
import type { LanguageDecoder } from './language-decoder.ts';

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

/** Hypotheses read side by side, at most: more at once cost more memory and hardly less time. */
const rowsAtOnce = 320;

/** The most probable continuations of each prompt that a beam of so many finds, the best first. */
export function beamSearch(decoder: LanguageDecoder, options: BeamOptions): Hypothesis[][] {
  checkPrompts(decoder, options);
  const { prompts, beams, schema } = options;
  if (!(Number.isInteger(beams) && beams >= 1 && 2 * beams <= decoder.vocabularySize))
    throw new UserError(
      `beams are a whole number from 1 to half the vocabulary (${Math.floor(decoder.vocabularySize / 2)}), got ${beams}`,
    );
  const out = new Array<Hypothesis[]>(prompts.length);
  for (const places of togetherBy(prompts, Math.max(1, Math.floor(rowsAtOnce / beams)))) {
    const found = scope(() => {
      const rows = places.flatMap((place) => Array.from({ length: beams }, () => place));
      const own = schema?.indexSelect(0, int64(rows));
      const some = rows.map((place) => prompts[place]!);
      const given = { ...options, prompts: some, ...(own ? { schema: own } : {}) };
      return new SideBySide(decoder, given).run();
    });
    for (const [i, place] of places.entries()) out[place] = found[i]!;
  }
  return out;
}

/** Places of prompts of one length, so many at a time. */
function* togetherBy(prompts: BeamOptions['prompts'], most: number): Generator<number[]> {
  const order = [...prompts.keys()].sort((a, b) => prompts[a]!.length - prompts[b]!.length);
  for (let first = 0; first < order.length; ) {
    const { length } = prompts[order[first]!]!;
    let end = first + 1;
    while (end < order.length && end < first + most && prompts[order[end]!]!.length === length) end++;
    yield order.slice(first, end);
    first = end;
  }
}

/** The search of one prompt. */
class Beam {
  open: Open[];
  #finished: Hypothesis[] = [];
  readonly #beams: number;
  readonly #penalty: number;

  constructor({ beams, lengthPenalty = 1 }: BeamOptions) {
    this.#beams = beams;
    this.#penalty = lengthPenalty;
    // Equal at the start, so that only the first may go on.
    this.open = Array.from({ length: beams }, (_, i) => ({
      tokens: [],
      logProb: i === 0 ? 0 : Number.NEGATIVE_INFINITY,
    }));
  }

  /** Takes the best continuations by one token, falling; returns which hypothesis each of the next ones came from. */
  advance(candidates: Iterable<Candidate>, ends: ReadonlySet<number>, length: number): number[] {
    const next: (Open & { from: number })[] = [];
    for (const { from, token, logProb } of candidates) {
      const { tokens } = this.open[from]!;
      if (!ends.has(token)) next.push({ tokens: [...tokens, token], logProb, from });
      // An end counts only among the best: behind them it would never have been looked at.
      else if (next.length < this.#beams) this.#finish(tokens, logProb, length);
      if (next.length === this.#beams) break;
    }
    this.open = next;
    return next.map(({ from }) => from);
  }

  /** Takes the open hypotheses as they are. */
  close(): void {
    for (const { tokens, logProb } of this.open) this.#finish(tokens, logProb, tokens.length);
  }

  /** Whether no open hypothesis would rank among the finished ones if it ended now. */
  isDone(length: number): boolean {
    const best = this.best();
    if (best.length < this.#beams) return false;
    return best.at(-1)!.score >= this.open[0]!.logProb / length ** this.#penalty;
  }

  best(): Hypothesis[] {
    return this.#finished.sort((a, b) => b.score - a.score).slice(0, this.#beams);
  }

  #finish(tokens: number[], logProb: number, length: number): void {
    this.#finished.push({ tokens, logProb, score: logProb / length ** this.#penalty });
  }
}

interface Candidate {
  from: number;
  token: number;
  logProb: number;
}

/** The searches of several prompts of one length; the hypotheses of a prompt stand together. */
class SideBySide {
  readonly #beams: number;
  readonly #ends: ReadonlySet<number>;
  readonly #reading: Reading;
  readonly #searches: Beam[];
  readonly #done: boolean[];

  /** `prompts` has each prompt once for each of its hypotheses. */
  constructor(decoder: LanguageDecoder, options: BeamOptions) {
    this.#beams = options.beams;
    this.#ends = new Set([options.end ?? []].flat());
    this.#reading = new Reading(decoder, options);
    this.#searches = Array.from({ length: options.prompts.length / options.beams }, () => new Beam(options));
    this.#done = this.#searches.map(() => false);
  }

  /** The best hypotheses of each prompt; what was read is freed. */
  run(): Hypothesis[][] {
    const { limit, starts } = this.#reading;
    const steps = limit - starts[0]!.length;
    try {
      for (let step = 0; step < steps && this.#done.includes(false); step++) this.#advance(step);
    } finally {
      this.#reading.free();
    }
    for (const [at, search] of this.#searches.entries()) if (!this.#done[at]) search.close();
    return this.#searches.map((search) => search.best());
  }

  #advance(step: number): void {
    const open = this.#searches.flatMap((search) => search.open);
    const rows = step === 0 ? this.#reading.starts : open.map(({ tokens }) => [tokens.at(-1)!]);
    this.#reading.scored(rows, (logits) => {
      const candidates = this.#candidates(open, logits.logSoftmax(-1));
      const order = this.#searches.flatMap((search, at) => {
        // What is done keeps its rows: the others go on beside it.
        const same = search.open.map((_, i) => at * this.#beams + i);
        if (this.#done[at]) return same;
        const from = search.advance(candidates(at), this.#ends, step + 1);
        this.#done[at] = search.isDone(step + 1);
        return from.map((row) => at * this.#beams + row);
      });
      this.#reading.cache?.reorder(int64(order));
    });
  }

  /**
   * For each prompt the best continuations by one token of its hypotheses, twice as many as there are, falling; from the
   * log-probabilities [R, V] of the tokens after the open ones.
   */
  #candidates(open: readonly Open[], scores: Tensor): (prompt: number) => Iterable<Candidate> {
    const beams = this.#beams;
    const most = 2 * beams;
    // Among the best of all hypotheses of a prompt are at most so many of each.
    const best = scores.topk(most, -1); // [R, 2·beams]
    const before = Tensor.fromArray(
      Float64Array.from(open, ({ logProb }) => logProb),
      [open.length, 1],
    );
    const { values, indices } = best.values
      .add(before)
      .reshape(-1, beams * most)
      .topk(most, -1);
    const [logs, places, tokens] = [values.toNumbers(), indices.toNumbers(), best.indices.toNumbers()];
    return (prompt) =>
      Array.from({ length: most }, (_, i) => {
        const place = places[prompt * most + i]!;
        return {
          from: Math.floor(place / most),
          token: tokens[prompt * beams * most + place]!,
          logProb: logs[prompt * most + i]!,
        };
      });
  }
}
