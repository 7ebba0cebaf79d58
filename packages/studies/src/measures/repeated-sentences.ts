/** A sentence that is in so many texts, and in so large a share of them, says nothing of any. */
const repeated = { texts: 5, share: 0.01 };
/** Fewer words are said by chance in many texts. */
const fewestWords = 3;
/** Counters of a row, and rows, of the sketch: what bounds memory, however many sentences there are. */
const counters = 1 << 20;
const seeds = [0x811c9dc5, 0x2f0b4479] as const;

/**
 * Texts without the sentences and lines that come again in many of them: footers, bylines, notices. Sentences are counted
 * once a text in a count–min sketch, so that a rare one may be taken for a common one, once in a million, and no common one
 * is missed. A text that has nothing else stays as it is. A corpus without such sentences is given back as it is.
 */
export function withoutRepeatedSentences(texts: readonly string[]): readonly string[] {
  const sketch = seeds.map(() => new Uint32Array(counters));
  for (const text of texts)
    for (const sentence of new Set(sentencesIn(text).map(normalised)))
      for (const [row, place] of placesOf(sentence).entries()) sketch[row]![place]!++;
  const least = Math.max(repeated.texts, repeated.share * texts.length);
  const isRepeated = (sentence: string): boolean => {
    const words = normalised(sentence);
    if (words.split(' ').length < fewestWords) return false;
    return placesOf(words).every((place, row) => sketch[row]![place]! >= least);
  };
  return texts.map((text) => {
    const sentences = sentencesIn(text);
    const kept = sentences.filter((sentence) => !isRepeated(sentence));
    return kept.length === sentences.length || !kept.some((sentence) => /\p{L}/u.test(sentence))
      ? text
      : kept.join('\n');
  });
}

/** Parts that end in a line or after a sign and space. */
const sentencesIn = (text: string): string[] =>
  text.split(/(?<=[.!?。])\s+|\s*\n\s*|\s+[|•·]\s+/u).filter((sentence) => sentence !== '');

/** Words alone; digits, as in dates, are all the same. */
const normalised = (sentence: string): string =>
  sentence
    .toLowerCase()
    .replace(/\d+/g, '0')
    .match(/[\p{L}\p{M}\p{N}]+/gu)
    ?.join(' ') ?? '';

/** The counter of a sentence in each row, by FNV-1a. */
function placesOf(sentence: string): number[] {
  return seeds.map((seed) => {
    let hash: number = seed;
    for (let at = 0; at < sentence.length; at++) hash = Math.imul(hash ^ sentence.charCodeAt(at), 0x01000193);
    return ((hash ^ (hash >>> 15)) >>> 0) % counters;
  });
}
