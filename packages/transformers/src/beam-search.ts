import { UserError } from '@hidden-schema/base';
import { scope, Tensor } from '@hidden-schema/torch';
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
      const search = new SideBySide(decoder, some, { ...options, ...(own ? { schema: own } : {}) });
      try {
        return search.run();
      } finally {
        search.free();
      }
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
  readonly #decoder: LanguageDecoder;
  readonly #options: BeamOptions;
  readonly #ends: ReadonlySet<number>;
  readonly #starts: readonly (readonly number[])[];
  readonly #memory: Prompted['memory'];
  readonly #cache: KeyValueCache;
  readonly #limit: number;
  readonly #searches: Beam[];
  readonly #done: boolean[];

  /** `rows` has each prompt once for each of its hypotheses. */
  constructor(decoder: LanguageDecoder, rows: BeamOptions['prompts'], options: BeamOptions) {
    const { starts, memory } = prompted(decoder, rows);
    this.#decoder = decoder;
    this.#options = options;
    this.#ends = new Set([options.end ?? []].flat());
    this.#starts = starts;
    this.#memory = memory;
    this.#limit = Math.min(options.maxNewTokens, decoder.maxPositions - starts[0]!.length);
    this.#cache = new KeyValueCache(starts[0]!.length + Math.max(1, this.#limit));
    this.#searches = Array.from({ length: rows.length / options.beams }, () => new Beam(options));
    this.#done = this.#searches.map(() => false);
  }

  run(): Hypothesis[][] {
    for (let step = 0; step < this.#limit && this.#done.includes(false); step++) this.#advance(step);
    for (const [at, search] of this.#searches.entries()) if (!this.#done[at]) search.close();
    return this.#searches.map((search) => search.best());
  }

  free(): void {
    this.#cache.free();
    this.#memory?.states.free();
    this.#memory?.mask.free();
  }

  #advance(step: number): void {
    const { beams } = this.#options;
    withoutTraining(this.#decoder, () => {
      const candidates = this.#candidates(step);
      const order = this.#searches.flatMap((search, at) => {
        // What is done keeps its rows: the others go on beside it.
        const same = search.open.map((_, i) => at * beams + i);
        if (this.#done[at]) return same;
        const from = search.advance(candidates(at), this.#ends, step + 1);
        this.#done[at] = search.isDone(step + 1);
        return from.map((row) => at * beams + row);
      });
      this.#cache.reorder(int64(order));
    });
  }

  /** For each prompt the best continuations by one token of its hypotheses, twice as many as there are, falling. */
  #candidates(step: number): (prompt: number) => Iterable<Candidate> {
    const { beams } = this.#options;
    const open = this.#searches.flatMap((search) => search.open);
    const rows = step === 0 ? this.#starts : open.map(({ tokens }) => [tokens.at(-1)!]);
    const width = rows[0]!.length;
    const ids = int64(rows.flat()).reshape(rows.length, width);
    const memory = this.#memory ? { memory: this.#memory } : {};
    const states = this.#decoder.hidden(ids, this.#options.schema, { cache: this.#cache, ...memory });
    const scores = this.#decoder.logits(states.select(1, width - 1)).logSoftmax(-1); // [R, V]
    const most = 2 * beams;
    // Among the best of all hypotheses of a prompt are at most so many of each.
    const best = scores.topk(most, -1); // [R, 2·beams]
    const before = Tensor.fromArray(
      Float64Array.from(open, ({ logProb }) => logProb),
      [rows.length, 1],
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

const int64 = (values: readonly number[]): Tensor =>
  Tensor.fromArray(BigInt64Array.from(values, BigInt), [values.length]);
