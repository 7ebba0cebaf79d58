import type { OpenedRun } from '@hidden-schema/hsn/open';
import { openLanguageCorpus, openPoints } from '@hidden-schema/hsn/tasks/language/open';
import { cat, scope, Tensor } from '@hidden-schema/torch';
import { nearestWalks } from '../evaluation/nearest-walks.ts';
import { dot } from '../measures/dot.ts';
import { highest } from '../measures/highest.ts';
import type { EncodedCorpus } from './encoded.ts';
import { encodedRows } from './run-corpus.ts';

// Shapes: N encoded texts, K symbols, S width of a point.

/** What lies near a phrase. */
export interface Found {
  phrase: string;
  /** Its most probable walk, and the probability of each step given the one before. */
  walk: number[];
  probabilities: number[];
  /** Nearest symbols by cosine in the space that texts and symbols share; those of the walk where there is none. */
  symbols: { symbol: number; closeness: number | null }[];
  /** Texts whose walks are most like the phrase's. */
  walks: FoundText[];
  /** Texts nearest by cosine in that space; none where there is no such space. */
  sentences: FoundText[];
}

export interface FoundText {
  index: number;
  text: string;
  label: string | null;
  walk: number[];
  /** Cosine with the phrase, where known. */
  closeness: number | null;
  /** Steps at which its walk is on the same symbol as the phrase's, and symbols in common wherever. */
  shared: number;
  common: number;
}

export interface FindOptions {
  /** How many of each; 5 unless given. */
  top?: number;
  signal?: AbortSignal;
}

const defaultTop = 5;
const placedAtOnce = 4096;

/** Finds symbols, walks and texts near phrases; holds the points of all texts (4·S bytes each) until it is freed. */
export class TextFinder {
  readonly #opened: OpenedRun;
  readonly #encoded: EncodedCorpus;
  /** [N, S] */
  readonly #points: Tensor | undefined;

  private constructor(opened: OpenedRun, encoded: EncodedCorpus, points: Tensor | undefined) {
    this.#opened = opened;
    this.#encoded = encoded;
    this.#points = points;
  }

  static async open(opened: OpenedRun, encoded: EncodedCorpus, signal?: AbortSignal): Promise<TextFinder> {
    return new TextFinder(opened, encoded, await encodedPoints(opened, encoded, signal));
  }

  async find(phrase: string, { top = defaultTop }: FindOptions = {}): Promise<Found> {
    const { texts } = this.#opened;
    const { walks } = await texts.read([phrase]);
    const { walk, probabilities } = walks[0]!;
    const [point] = (this.#opened.kind === 'language' && (await this.#opened.texts.points([phrase]))) || [];
    const like = this.#encoded.nearest(walk, { limit: top });
    const cosines = point && this.#points ? this.#cosines(point) : undefined;
    const foundText = (index: number, walkLikeness: { shared: number; common: number }): FoundText => {
      const { text, label, walk: own } = this.#encoded.sentence(index);
      return { index, text, label, walk: own, closeness: cosines ? cosines[index]! : null, ...walkLikeness };
    };
    return {
      phrase,
      walk,
      probabilities,
      symbols: point
        ? this.#nearSymbols(point, top)
        : [...new Set(walk)].map((symbol) => ({ symbol, closeness: null })),
      walks: like.map(({ sentence, shared, common }) => foundText(sentence.index, { shared, common })),
      sentences: cosines
        ? this.#nearest(cosines, walk, top).map(({ index, ...like }) => foundText(index, like))
        : [],
    };
  }

  free(): void {
    this.#points?.free();
  }

  #cosines(point: Float32Array): Float32Array {
    return scope(() =>
      this.#points!.matmul(Tensor.fromArray(point, [point.length])).toArray(),
    ) as Float32Array;
  }

  #nearest(cosines: Float32Array, walk: readonly number[], top: number) {
    const places = highest(cosines, Uint32Array.from(cosines.keys()), top);
    return places.map((index) => ({
      ...nearestWalks(this.#encoded.walk(index), this.#encoded.length, walk, { limit: 1 })[0]!,
      index,
    }));
  }

  #nearSymbols(point: Float32Array, top: number): Found['symbols'] {
    if (this.#opened.kind !== 'language') return [];
    const cosines = Float32Array.from(this.#opened.texts.symbolVectors(), (vector) => dot(vector, point));
    return highest(cosines, Uint32Array.from(cosines.keys()), top).map((symbol) => ({
      symbol,
      closeness: cosines[symbol]!,
    }));
  }
}

/** The points of the encoded texts in their order; nothing where walks are not read from points. [N, S] */
async function encodedPoints(
  opened: OpenedRun,
  encoded: EncodedCorpus,
  signal?: AbortSignal,
): Promise<Tensor | undefined> {
  if (opened.kind !== 'language') return undefined;
  const corpus = await openLanguageCorpus(opened, signal ? { signal } : {});
  const points = await openPoints(opened, corpus, signal ? { signal } : {});
  try {
    if (!points) return undefined;
    const rows = encodedRows(encoded, corpus);
    const parts: Tensor[] = [];
    for (let first = 0; first < rows.length; first += placedAtOnce)
      parts.push(points.of(rows.slice(first, first + placedAtOnce)));
    const all = cat(parts, 0);
    for (const part of parts) part.free();
    return all;
  } finally {
    points?.free();
    corpus.close();
  }
}
