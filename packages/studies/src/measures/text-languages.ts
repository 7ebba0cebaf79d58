import { corpusStopWords } from './corpus-stop-words.ts';
import { stopWordsOf } from './language-stop-words.ts';
import { englishStopWords } from './stop-words.ts';
import { type TextWords, textCount } from './text-words.ts';

// Shapes: N texts.

/** A text is surely of a language when so much of it is function words of that language, and so many of them. */
const sure = { share: 0.2, words: 3 };
/** A language is one of the corpus when so many texts are surely of it. */
const present = { share: 0.02, texts: 3 };
/**
 * Statistics of fewer texts call words common that tell of a subject, and so they do where function words were taken out
 * before: then the first words do not make up such a share of all.
 */
const natural = { texts: 200, words: 20, share: 0.24 };
/** Texts of which a language is told, at most. */
const mostTexts = 20_000;

const names = [...stopWordsOf.keys()];

/** The languages of a corpus by their function words, most frequent first; none where no known one is there. */
export function languagesOf(texts: TextWords): string[] {
  const isStop = stopFlags(texts);
  const stride = Math.max(1, Math.ceil(textCount(texts) / mostTexts));
  const counts = new Int32Array(names.length);
  let looked = 0;
  for (let n = 0; n < textCount(texts); n += stride, looked++) {
    const [best, hits] = bestLanguage(texts, n, isStop, names.keys());
    const length = texts.starts[n + 1]! - texts.starts[n]!;
    if (hits >= sure.words && hits >= sure.share * length) counts[best]!++;
  }
  const enough = Math.max(1, Math.min(present.texts, looked), present.share * looked);
  return names
    .map((name, at) => ({ name, count: counts[at]! }))
    .filter(({ count }) => count >= enough)
    .sort((a, b) => b.count - a.count)
    .map(({ name }) => name);
}

/**
 * The texts without stop words: those of each text's own language, so that "war" stays in English where German lies
 * beside it; in a corpus of none of the known languages, those that its statistics tell, where it has function words at all.
 */
export function withoutStopWords(texts: TextWords): TextWords {
  const found = languagesOf(texts);
  if (found.length === 0) {
    const common = hasFunctionWords(texts) ? corpusStopWords(texts) : englishStopWords;
    return keptWords(texts, () => (word) => !common.has(texts.words[word]!));
  }
  const isStop = stopFlags(texts);
  const places = found.map((name) => names.indexOf(name));
  return keptWords(texts, (n) => {
    const [own] = bestLanguage(texts, n, isStop, places);
    return (word) => isStop[own]![word] === 0;
  });
}

/** Whether a corpus is written as people write, with few words making up much of it. */
function hasFunctionWords(texts: TextWords): boolean {
  if (textCount(texts) < natural.texts) return false;
  const counts = new Uint32Array(texts.words.length);
  for (const word of texts.tokens) counts[word]!++;
  const most = counts.sort().subarray(-natural.words);
  return most.reduce((sum, count) => sum + count, 0) >= natural.share * texts.tokens.length;
}

/** Whether each word is a stop word of each language. [languages][words] */
function stopFlags({ words }: TextWords): Uint8Array[] {
  return names.map((name) => {
    const list = stopWordsOf.get(name)!;
    return Uint8Array.from(words, (word) => (list.has(word) ? 1 : 0));
  });
}

/** The language with most function words in a text, the first of equal ones, and how many those are. */
function bestLanguage(
  { tokens, starts }: TextWords,
  n: number,
  isStop: readonly Uint8Array[],
  among: Iterable<number>,
): [language: number, hits: number] {
  let best: [number, number] | undefined;
  for (const language of among) {
    let hits = 0;
    for (let at = starts[n]!; at < starts[n + 1]!; at++) hits += isStop[language]![tokens[at]!]!;
    if (!best || hits > best[1]) best = [language, hits];
  }
  return best!;
}

/** The same texts with the words that `keeps` says of each text. */
function keptWords(texts: TextWords, keeps: (text: number) => (word: number) => boolean): TextWords {
  const { words, tokens, starts } = texts;
  const kept = new Uint32Array(tokens.length);
  const keptStarts = new Uint32Array(starts.length);
  let filled = 0;
  for (let n = 0; n + 1 < starts.length; n++) {
    const keep = keeps(n);
    for (let at = starts[n]!; at < starts[n + 1]!; at++) if (keep(tokens[at]!)) kept[filled++] = tokens[at]!;
    keptStarts[n + 1] = filled;
  }
  return { words, tokens: kept.slice(0, filled), starts: keptStarts };
}
