import type { RankedWord } from './c-tf-idf.ts';
import { cosine } from './coherence.ts';
import { fewerRepeats, type RepeatOptions } from './fewer-repeats.ts';

/** Words of a symbol that are ranked anew, and those of them that say what it is about. */
export const RERANKED_WORDS = 30;
const central = 20;
/** Share of all lists' words that are to be different. */
const leastDifferent = 0.85;
/** A cosine below this counts as this much: no word turns the order round. */
const leastCosine = 0.01;

/**
 * The first words of each symbol that go together: ranked by √score · cos(word, centre), the centre being the mean of
 * the vectors of its first 20 words by their scores. Both factors decide: what is common with the symbol and unlike
 * its other words falls back, and so does what is alike but rare.
 */
export function coherentWords(
  ranked: readonly (readonly RankedWord[])[],
  vectorOf: (word: string) => ArrayLike<number>,
  { words }: Pick<RepeatOptions, 'words'>,
): RankedWord[][] {
  const lists = ranked.map((list) => {
    const middle = centre(list.slice(0, central), vectorOf);
    return list
      .slice(0, RERANKED_WORDS)
      .map(({ word, score }) => ({
        word,
        score: Math.sqrt(score) * Math.max(leastCosine, cosine(vectorOf(word), middle)),
      }))
      .sort((a, b) => b.score - a.score);
  });
  return fewerRepeats(lists, { words, leastDifferent });
}

/** Vectors of words from their rows. [words, D] */
export function rowsByWord(words: readonly string[], vectors: Float32Array): (word: string) => Float32Array {
  const width = vectors.length / Math.max(1, words.length);
  const places = new Map(words.map((word, at) => [word, at * width]));
  return (word) => vectors.subarray(places.get(word)!, places.get(word)! + width);
}

function centre(list: readonly RankedWord[], vectorOf: (word: string) => ArrayLike<number>): Float64Array {
  const sum = new Float64Array(list[0] ? vectorOf(list[0].word).length : 0);
  for (const { word, score } of list) {
    const vector = vectorOf(word);
    for (let at = 0; at < sum.length; at++) sum[at]! += score * vector[at]!;
  }
  return sum;
}
