const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

/** A word of a text: in small letters, with its place in UTF-16 units. */
export interface PlacedWord {
  word: string;
  start: number;
  end: number;
}

/** What Unicode has as one word, whatever stands around it. */
const plainWord = /^[A-Za-z0-9]+$/;

/** Words as Unicode divides them, in any script. */
export function wordsOf(text: string): PlacedWord[] {
  const words: PlacedWord[] = [];
  let start = 0;
  // Words end at a space, so that the slow way is only taken for what lies between spaces and is not plain.
  for (const piece of text.split(' ')) {
    if (plainWord.test(piece)) words.push({ word: piece.toLowerCase(), start, end: start + piece.length });
    else if (piece.length > 0) addSegments(piece, start, words);
    start += piece.length + 1;
  }
  return words;
}

function addSegments(piece: string, first: number, words: PlacedWord[]): void {
  for (const { segment, index, isWordLike } of segmenter.segment(piece)) {
    const start = first + index;
    if (isWordLike) words.push({ word: segment.toLowerCase(), start, end: start + segment.length });
  }
}

/** Tokens of a synthetic language: what stands between spaces, as it is. */
export function tokensOf(text: string): PlacedWord[] {
  return Array.from(text.matchAll(/\S+/gu), ({ 0: word, index }) => ({
    word,
    start: index,
    end: index + word.length,
  }));
}
