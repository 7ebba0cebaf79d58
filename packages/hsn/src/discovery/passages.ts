import { setImmediate } from 'node:timers/promises';
import { tokenPassages } from '@hidden-schema/text/passages';
import type { TokenStore } from '@hidden-schema/text/token-store';
import { call, cat, Tensor, zeros } from '@hidden-schema/torch';
import type { Dictionary } from './dictionary.ts';
import {
  type PursuitOptions,
  pursue,
  REVISIT_PENALTY,
  sharpnessAt,
  solveNnls,
  standingScores,
} from './pursuit.ts';
import { Scratch } from './scratch.ts';
import type { OpenedEncoder } from './vectors/text-vectors.ts';

// Shapes: N texts of a corpus, P passages of them, at least one each.

export interface PassageOptions {
  /** Tokens of a text that the encoder reads at once. */
  longest: number;
  /** Whether longer texts are cut into passages; else the rest of them is not read. */
  cut: boolean;
  signal?: AbortSignal | undefined;
}

/** Where a passage of a text that was cut lies: in its text, and its tokens among those put down. */
interface Place {
  start: number;
  end: number;
  tokens: number;
  length: number;
}

/** The texts of a corpus as the encoder reads them: those longer than it reads at once as several passages. */
export class Passages {
  /** P */
  readonly count: number;
  /** Texts that have several. */
  readonly cutTexts: number;
  readonly #store: TokenStore;
  /** The first passage of each text, and P; nothing where every text is one. [N + 1] */
  readonly #firsts: Int32Array | undefined;
  readonly #places: ReadonlyMap<number, Place>;
  readonly #tokens: Scratch;
  /** The text that was read last: its passages are asked for one after the other. */
  #last: { row: number; text: string } | undefined;

  private constructor(store: TokenStore, firsts: Int32Array | undefined, found: CutTexts) {
    this.#store = store;
    this.#firsts = firsts;
    this.#places = found.places;
    this.#tokens = found.tokens;
    this.cutTexts = found.texts;
    this.count = firsts ? firsts[store.count]! : store.count;
  }

  /** Cuts the texts that the encoder reads only the beginning of. */
  static async of(store: TokenStore, opened: OpenedEncoder, options: PassageOptions): Promise<Passages> {
    const longest = Math.min(options.longest, opened.encoder.positions);
    const found: CutTexts = { texts: 0, places: new Map(), tokens: new Scratch() };
    if (!options.cut) return new Passages(store, undefined, found);
    const firsts = new Int32Array(store.count + 1);
    for (let row = 0; row < store.count; row++) {
      // The store has as many tokens of a longer text as the encoder reads.
      const full = store.lengths.encoder[row]! >= longest;
      firsts[row + 1] =
        firsts[row]! + (full ? await cutText(store, row, { opened, longest, found, at: firsts[row]! }) : 1);
      if (full && found.texts % 64 === 0) await setImmediate();
      options.signal?.throwIfAborted();
    }
    return new Passages(store, found.texts > 0 ? firsts : undefined, found);
  }

  /** The passages of some texts, text after text. */
  rowsOf(texts: Int32Array): Int32Array {
    const firsts = this.#firsts;
    if (!firsts) return texts;
    const rows = new Int32Array(texts.reduce((sum, text) => sum + firsts[text + 1]! - firsts[text]!, 0));
    let filled = 0;
    for (const text of texts)
      for (let row = firsts[text]!; row < firsts[text + 1]!; row++) rows[filled++] = row;
    return rows;
  }

  /** How many passages each of some texts has; nothing where each has one. */
  countsOf(texts: Int32Array): Int32Array | undefined {
    const firsts = this.#firsts;
    if (!firsts) return undefined;
    const counts = texts.map((text) => firsts[text + 1]! - firsts[text]!);
    return counts.some((count) => count > 1) ? counts : undefined;
  }

  /** Passages of the texts from one row of the store up to another. */
  between(first: number, end: number): number {
    return this.#firsts ? this.#firsts[end]! - this.#firsts[first]! : end - first;
  }

  text(passage: number): string {
    const row = this.#textOf(passage);
    if (this.#last?.row !== row) this.#last = { row, text: this.#store.example(row).text };
    const place = this.#places.get(passage);
    return place ? this.#last.text.slice(place.start, place.end).trim() : this.#last.text;
  }

  /** The encoder's tokens of some passages, one after the other. */
  *tokens(passages: Iterable<number>): Generator<Int32Array> {
    for (const passage of passages) {
      const place = this.#places.get(passage);
      if (place) {
        const ids = new Int32Array(place.length);
        this.#tokens.read(new Uint8Array(ids.buffer), place.tokens);
        yield ids;
      } else yield this.#store.ids('encoder', this.#store.row(this.#textOf(passage)));
    }
  }

  free(): void {
    this.#tokens.free();
  }

  #textOf(passage: number): number {
    const firsts = this.#firsts;
    if (!firsts) return passage;
    let [low, high] = [0, firsts.length - 2];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (firsts[middle]! <= passage) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** The passages of texts that were cut. */
interface CutTexts {
  texts: number;
  places: Map<number, Place>;
  tokens: Scratch;
}

/** Cuts a text, whose first passage has a number, and puts its passages down; returns how many they are. */
async function cutText(
  store: TokenStore,
  row: number,
  { opened, longest, found, at }: { opened: OpenedEncoder; longest: number; found: CutTexts; at: number },
): Promise<number> {
  const passages = await tokenPassages(store.example(row).text, opened.tokenizer, longest);
  if (passages.length === 1) return 1;
  found.texts++;
  for (const [n, { start, end, ids }] of passages.entries()) {
    const tokens = found.tokens.append(new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength));
    found.places.set(at + n, { start, end, tokens, length: ids.length });
  }
  return passages.length;
}

// Shapes: D texts, P passages of them, S width of a point, K symbols, L steps.

/** Texts as the points of their passages. */
export interface PassagePoints {
  /** Text after text. [P, S] */
  points: Tensor;
  /** Passages of each text, at least one; one each unless given. [D] */
  passages?: Int32Array | undefined;
}

/** What walks of texts are read from, and the most probable ones. */
export interface JoinedWalks {
  /** h_i of each step. L times [D, K] */
  scores: Tensor[];
  /** [D, L] int64 */
  walks: Tensor;
}

/**
 * Walks of texts from those of their passages (`pursue`). A text begins with the symbol that most of its passages begin
 * with: q(z_1) is the mean of theirs. Then it goes on to linked symbols that its passages name, by the share of the
 * passages' squared length that these explain, in the mean w_k = (1/P) Σ_p Σ_i a_pi·c_pi [z_pi = k]: h_i = κ_i·w. Where no
 * more is named it stays, to its end. A text of one passage has that passage's walk.
 */
export function joinPassages(
  { points, passages }: PassagePoints & { passages: Int32Array },
  dictionary: Dictionary,
  { length, sharpness }: Pick<PursuitOptions, 'length' | 'sharpness'>,
): JoinedWalks {
  const own: Tensor[] = [];
  const onStep = (_: Tensor, scores: Tensor) => own.push(scores.reshape(points.dim(0), -1));
  const found = pursue(points, dictionary, { length, candidates: 1, sharpness, onStep });
  const walks = found.walks.select(1, 0); // [P, L]
  const fit = points.matmul(dictionary.symbols.transpose(0, 1));
  const shares = found.coefficients.select(1, 0).mul(fit.gather(1, walks)).detach();
  const named = call('scatter_add', zeros([points.dim(0), fit.dim(1)]), 1, walks, shares);
  const first = meanOfTexts(own[0]!.exp(), passages).clamp(leastProbability).log();
  const weights = meanOfTexts(named, passages);
  const joined = joinedSteps(first, weights, { dictionary, length, sharpness });
  const single = Tensor.fromArray(
    Int32Array.from(passages, (count) => (count === 1 ? 1 : 0)),
    [passages.length, 1],
  ).gt(0);
  const firsts = firstOfTexts(passages);
  const alone = (all: Tensor, other: Tensor) => call('where.self', single, all.indexSelect(0, firsts), other);
  return {
    scores: joined.scores.map((scores, step) => alone(own[step]!, scores)),
    walks: alone(walks, joined.walks),
  };
}

const leastProbability = 1e-30;

interface JoinOptions extends Pick<PursuitOptions, 'length' | 'sharpness'> {
  dictionary: Dictionary;
}

/** Step after step along the best walk. first: log q(z_1), weights: w, [D, K] each */
function joinedSteps(
  first: Tensor,
  weights: Tensor,
  { dictionary: { links }, length, sharpness }: JoinOptions,
): JoinedWalks {
  // What no passage names comes after staying.
  const above = call('where.self', weights.gt(0), weights, call('full_like', weights, REVISIT_PENALTY));
  const scores = [first];
  let taken = first.argmax(1).unsqueeze(1);
  for (let step = 1; step < length; step++) {
    const next = standingScores(above, taken, { links, sharpness: sharpnessAt({ sharpness }, step) });
    scores.push(next.scores);
    taken = cat([taken, next.open.argmax(1).unsqueeze(1)], 1);
  }
  return { scores, walks: taken };
}

/** a ≥ 0 of each step of texts' walks [D, L]: means over their passages of x ≈ Σ_i a_i·e_{z_i}. [D, L] */
export function joinedWeights(
  { points, passages }: PassagePoints & { passages: Int32Array },
  dictionary: Dictionary,
  walks: Tensor,
): Tensor {
  const each = walks.indexSelect(0, textOfPassages(passages));
  return meanOfTexts(solveNnls(points, dictionary, each), passages);
}

/** One point a text: the direction of the sum of its passages' points; that of its only one. [D, S] */
export function textPoints({ points, passages }: PassagePoints & { passages: Int32Array }): Tensor {
  const means = meanOfTexts(points, passages);
  return means.div(means.mul(means).sum(1, true).sqrt().clamp(1e-12));
}

/** Means over the passages of each text. [P, n] → [D, n] */
function meanOfTexts(rows: Tensor, passages: Int32Array): Tensor {
  const sums = zeros([passages.length, rows.dim(1)]);
  const counts = Tensor.fromArray(Float32Array.from(passages), [passages.length, 1]);
  return call('index_add', sums, 0, textOfPassages(passages), rows, 1).div(counts);
}

function textOfPassages(passages: Int32Array): Tensor {
  const texts = Array.from(passages).flatMap((count, text) => new Array<number>(count).fill(text));
  return Tensor.fromArray(Int32Array.from(texts), [texts.length]);
}

function firstOfTexts(passages: Int32Array): Tensor {
  let first = 0;
  const firsts = Int32Array.from(passages, (count) => {
    first += count;
    return first - count;
  });
  return Tensor.fromArray(firsts, [firsts.length]);
}

/** The symbol that most of a text's passages begin with, the lowest of equal ones. firsts [P] → [D] */
export function mostSaid(firsts: readonly number[], passages: Int32Array): number[] {
  let at = 0;
  return Array.from(passages, (count) => {
    const counts = new Map<number, number>();
    for (const symbol of firsts.slice(at, at + count)) counts.set(symbol, (counts.get(symbol) ?? 0) + 1);
    at += count;
    return [...counts].sort(([a, x], [b, y]) => y - x || a - b)[0]![0];
  });
}
