import { cosine } from './dot.ts';

export interface RankedWord {
  readonly word: string;
  readonly score: number;
}

export interface RepeatOptions {
  /** Words of each list. */
  words: number;
  /** Share of all lists' words that are to be different. */
  leastDifferent: number;
}

/**
 * The first words of each ranked list, with so many repeats given up that the share `leastDifferent` of them is
 * different: again and again the repeat that costs its list least, as a share of the list's highest score, makes room
 * for the list's next word that no list has yet. Every word stays in one list at least; a list without another word
 * keeps its repeats.
 */
export function fewerRepeats(
  ranked: readonly (readonly RankedWord[])[],
  { words: most, leastDifferent }: RepeatOptions,
): RankedWord[][] {
  const lists = ranked.map((list) => list.slice(0, most));
  const size = lists.flat().length;
  // Where each list goes on in its ranking; words before it are in a list, and stay in one.
  const next = lists.map((list) => list.length);
  const holders = new Map<string, number>();
  for (const { word } of lists.flat()) holders.set(word, (holders.get(word) ?? 0) + 1);
  const repeatIn = (list: number): Repeat | undefined => {
    const ranking = ranked[list]!;
    while (holders.has(ranking[next[list]!]?.word ?? '')) next[list]!++;
    const fresh = ranking[next[list]!];
    // Scores fall along a list, so that its last repeat is its cheapest.
    const place = lists[list]!.findLastIndex(({ word }) => holders.get(word)! > 1);
    if (!fresh || place < 0) return undefined;
    return { list, place, fresh, cost: (lists[list]![place]!.score - fresh.score) / ranking[0]!.score };
  };
  while (size > 0 && holders.size / size < leastDifferent) {
    const cheapest = Array.from(lists.keys(), repeatIn).reduce((best, repeat) =>
      repeat && (!best || repeat.cost < best.cost) ? repeat : best,
    );
    if (!cheapest) break;
    const { list, place, fresh } = cheapest;
    const [old] = lists[list]!.splice(place, 1);
    lists[list]!.push(fresh);
    holders.set(old!.word, holders.get(old!.word)! - 1);
    holders.set(fresh.word, 1);
  }
  return lists;
}

/** A word that other lists have too, and the one that it can make room for. */
interface Repeat {
  list: number;
  place: number;
  fresh: RankedWord;
  /** As a share of the list's highest score. */
  cost: number;
}

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
