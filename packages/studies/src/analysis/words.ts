const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

/** A word of a text: in small letters, with its place in UTF-16 units. */
export interface PlacedWord {
  word: string;
  start: number;
  end: number;
}

/** Words as Unicode divides them, in any script. */
export function wordsOf(text: string): PlacedWord[] {
  const words: PlacedWord[] = [];
  for (const { segment, index, isWordLike } of segmenter.segment(text))
    if (isWordLike) words.push({ word: segment.toLowerCase(), start: index, end: index + segment.length });
  return words;
}

/** Tokens of a synthetic language: what stands between spaces, as it is. */
export function tokensOf(text: string): PlacedWord[] {
  return Array.from(text.matchAll(/\S+/gu), ({ 0: word, index }) => ({
    word,
    start: index,
    end: index + word.length,
  }));
}
