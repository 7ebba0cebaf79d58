import { cosine } from './dot.ts';
import type { TextWords } from './text-words.ts';
import { type WindowCounts, type WindowOptions, windowCounts } from './word-windows.ts';

/** One number a topic, null where fewer than two of its words are in the corpus, and the mean of those there are. */
export interface Coherence {
  readonly mean: number | null;
  readonly topics: readonly (number | null)[];
}

export interface CoherenceOptions extends WindowOptions {
  /** Added to the probability of each pair: 0 for NPMI as Bouma defines it, `gensimEpsilon` for gensim's figures. */
  epsilon?: number;
  /** Words of a topic that count. */
  words?: number;
}

/**
 * What gensim adds to p(a, b). Words never together then have about −0.7 and not −1, the more the rarer they are, and
 * words that are in every window have −1 and not 1.
 */
export const gensimEpsilon = 1e-12;

/**
 * C_NPMI: mean NPMI over the pairs of a topic's first words, by texts, words never together having −1. gensim's c_npmi
 * is `{ window: 10, epsilon: gensimEpsilon }`. Words that the corpus lacks are left out, as gensim leaves them out.
 */
export function npmiCoherence(
  texts: TextWords,
  topics: readonly (readonly string[])[],
  options: CoherenceOptions = {},
): Coherence {
  return coherence(texts, topics, options, (npmi, words) => meanOfPairs(words, npmi));
}

function meanOfPairs<T>(items: readonly T[], of: (a: T, b: T) => number): number {
  let sum = 0;
  for (const [i, a] of items.entries()) for (const b of items.slice(0, i)) sum += of(a, b);
  return sum / ((items.length * (items.length - 1)) / 2);
}

/**
 * C_v (Röder, Both & Hinneburg 2015): each word's NPMI with all words of the topic is its vector; the mean cosine of
 * these vectors with their sum. As gensim's c_v, in a window of 110 words.
 */
export function cvCoherence(
  texts: TextWords,
  topics: readonly (readonly string[])[],
  options: CoherenceOptions = {},
): Coherence {
  return coherence(texts, topics, { window: 110, epsilon: gensimEpsilon, ...options }, (npmi, words) => {
    const vectors = words.map((a) => Float64Array.from(words, (b) => npmi(a, b)));
    const whole = Float64Array.from(words, (_, j) => vectors.reduce((sum, vector) => sum + vector[j]!, 0));
    return vectors.reduce((sum, vector) => sum + cosine(vector, whole), 0) / words.length;
  });
}

type PairMeasure = (a: number, b: number) => number;

function coherence(
  texts: TextWords,
  topics: readonly (readonly string[])[],
  { words: most = 10, epsilon = 0, ...windows }: CoherenceOptions,
  measure: (npmi: PairMeasure, words: readonly number[]) => number,
): Coherence {
  const first = topics.map((topic) => topic.slice(0, most));
  const { places, relevant } = placesOf(texts, first);
  const counts = windowCounts(texts, places, relevant.size, windows);
  const npmi = npmiOf(counts, relevant.size, epsilon);
  const values = first.map((topic) => {
    const known = topic.flatMap((word) => relevant.get(word) ?? []);
    return known.length < 2 ? null : measure(npmi, known);
  });
  return withMean(values);
}

function withMean(topics: readonly (number | null)[]): Coherence {
  const known = topics.filter((value) => value !== null);
  const sum = known.reduce((all, value) => all + value, 0);
  return { topics, mean: known.length === 0 ? null : sum / known.length };
}

/** The topics' words that the corpus has, numbered, and where each word of the corpus is among them. */
function placesOf(texts: TextWords, topics: readonly (readonly string[])[]) {
  const wanted = new Set(topics.flat());
  const relevant = new Map<string, number>();
  const places = new Int32Array(texts.words.length).fill(-1);
  for (const [number, word] of texts.words.entries()) {
    if (!wanted.has(word)) continue;
    places[number] = relevant.size;
    relevant.set(word, relevant.size);
  }
  return { places, relevant };
}

/** NPMI = ln(p(a, b) / (p(a) p(b))) / −ln p(a, b) (Bouma 2009), with ε beside each p(a, b). */
function npmiOf({ windows, together }: WindowCounts, R: number, epsilon: number): PairMeasure {
  return (a, b) => {
    const both = together[a * R + b]! / windows + epsilon;
    const apart = (together[a * R + a]! / windows) * (together[b * R + b]! / windows);
    if (both === 0) return -1;
    return both === 1 ? 1 : Math.log(both / apart) / -Math.log(both);
  };
}

/** What says how many words of a topic count. */
export type EmbeddingCoherenceOptions = Pick<CoherenceOptions, 'words'>;

/**
 * Word-embedding coherence: mean cosine over the pairs of a topic's first words (Fang et al. 2016). Words without a
 * vector are left out.
 */
export function embeddingCoherence(
  topics: readonly (readonly string[])[],
  vectorOf: (word: string) => ArrayLike<number> | undefined,
  { words: most = 10 }: EmbeddingCoherenceOptions = {},
): Coherence {
  const values = topics.map((topic) => {
    const vectors = topic.slice(0, most).flatMap((word) => {
      const vector = vectorOf(word);
      return vector === undefined ? [] : [vector];
    });
    return vectors.length < 2 ? null : meanOfPairs(vectors, cosine);
  });
  return withMean(values);
}
