import type { OpenedRun } from '@hidden-schema/hsn/open';
import { openLanguageCorpus, openPoints } from '@hidden-schema/hsn/tasks/language/open';
import { cat, scope, Tensor } from '@hidden-schema/torch';
import { dot } from '../measures/dot.ts';
import { highest, nearestWalks } from '../measures/highest.ts';
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

const placedAtOnce = 4096;

/** Finds symbols, walks and texts near a phrase, `top` of each; the points of all texts take 4·S bytes each meanwhile. */
export async function findNear(
  opened: OpenedRun,
  encoded: EncodedCorpus,
  phrase: string,
  { top, signal }: { top: number; signal?: AbortSignal },
): Promise<Found> {
  const points = await encodedPoints(opened, encoded, signal);
  try {
    const { walks } = await opened.texts.read([phrase]);
    const { walk, probabilities } = walks[0]!;
    const [point] = (opened.kind === 'language' && (await opened.texts.points([phrase]))) || [];
    const cosines = point && points ? cosinesWith(point, points) : undefined;
    const foundText = (index: number, { shared, common }: { shared: number; common: number }): FoundText => {
      const { text, label, walk: own } = encoded.sentence(index);
      return { index, text, label, walk: own, closeness: cosines ? cosines[index]! : null, shared, common };
    };
    const likeness = (index: number) =>
      nearestWalks(encoded.walk(index), encoded.length, walk, { limit: 1 })[0]!;
    return {
      ...{ phrase, walk, probabilities },
      symbols: point ? nearSymbols(opened, point, top) : walkSymbols(walk),
      walks: encoded
        .nearest(walk, { limit: top })
        .map(({ sentence, ...like }) => foundText(sentence.index, like)),
      sentences: cosines ? placesOf(cosines, top).map((index) => foundText(index, likeness(index))) : [],
    };
  } finally {
    points?.free();
  }
}

const walkSymbols = (walk: readonly number[]): Found['symbols'] =>
  [...new Set(walk)].map((symbol) => ({ symbol, closeness: null }));

const placesOf = (cosines: Float32Array, top: number): number[] =>
  highest(cosines, Uint32Array.from(cosines.keys()), top);

const cosinesWith = (point: Float32Array, points: Tensor): Float32Array =>
  scope(() => points.matmul(Tensor.fromArray(point, [point.length])).toArray()) as Float32Array;

function nearSymbols(opened: OpenedRun, point: Float32Array, top: number): Found['symbols'] {
  if (opened.kind !== 'language') return [];
  const cosines = Float32Array.from(opened.texts.symbolVectors(), (vector) => dot(vector, point));
  return placesOf(cosines, top).map((symbol) => ({ symbol, closeness: cosines[symbol]! }));
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
