import { withoutStopWords } from './stop-words.ts';
import { documentFrequencies, type TextWords, textCount } from './text-words.ts';

/** Counts of vocabulary words by text, in compressed sparse rows: text n has entries `starts[n]` up to `starts[n + 1]`. */
export interface DocumentTerms {
  /** The vocabulary, by first appearance in the corpus. [V] */
  readonly words: readonly string[];
  /** How many texts have each word. [V] */
  readonly frequencies: Uint32Array;
  /** [N + 1] */
  readonly starts: Uint32Array;
  /** Numbers of words, rising within a text. */
  readonly terms: Uint32Array;
  /** How often the text has the word. */
  readonly counts: Float32Array;
}

export interface VocabularyOptions {
  /** Fewest texts that must have a word. */
  minTexts?: number;
  /** Largest share of the texts that may have it. */
  maxShare?: number;
  stopWords?: ReadonlySet<string>;
}

/** The vocabulary's words of each text, counted. Nothing is left where no word passes: V may be 0. */
export function documentTerms(texts: TextWords, options: VocabularyOptions = {}): DocumentTerms {
  const frequencies = documentFrequencies(texts);
  const kept = vocabulary(texts, frequencies, options);
  const places = new Int32Array(texts.words.length).fill(-1);
  for (const [place, word] of kept.entries()) places[word] = place;
  return {
    words: Array.from(kept, (word) => texts.words[word]!),
    frequencies: kept.map((word) => frequencies[word]!),
    ...countedRows(texts, places, kept.length),
  };
}

/** A word is in at least so many texts, two in a small corpus, and in at most half of them. */
const fewestTexts = { small: 2, large: 5 };
const smallCorpus = 1000;
const mostShare = 0.5;

/** Fewest texts that must have a word for it to tell of symbols, in a corpus of so many texts. */
export const fewestTextsOf = (texts: number): number =>
  texts < smallCorpus ? fewestTexts.small : fewestTexts.large;

/** The words that tell texts apart, counted: neither too rare nor too common, and no stop words of their language or given ones. */
export function tellingTerms(texts: TextWords, stopWords: ReadonlySet<string> = new Set()): DocumentTerms {
  const minTexts = fewestTextsOf(textCount(texts));
  return documentTerms(withoutStopWords(texts), { minTexts, maxShare: mostShare, stopWords });
}

/** The same counts of some texts alone; the vocabulary stays. */
export function termsOfRows(matrix: DocumentTerms, rows: ArrayLike<number>): DocumentTerms {
  const starts = new Uint32Array(rows.length + 1);
  const spans = Array.from(rows, (row) => [matrix.starts[row]!, matrix.starts[row + 1]!] as const);
  for (const [at, [from, to]] of spans.entries()) starts[at + 1] = starts[at]! + to - from;
  const terms = new Uint32Array(starts.at(-1)!);
  const counts = new Float32Array(terms.length);
  for (const [at, [from, to]] of spans.entries()) {
    terms.set(matrix.terms.subarray(from, to), starts[at]!);
    counts.set(matrix.counts.subarray(from, to), starts[at]!);
  }
  const frequencies = new Uint32Array(matrix.words.length);
  for (const term of terms) frequencies[term]!++;
  return { words: matrix.words, frequencies, starts, terms, counts };
}

/** The numbers of the words that pass, rising. */
function vocabulary(texts: TextWords, frequencies: Uint32Array, options: VocabularyOptions): Uint32Array {
  const { minTexts = 1, maxShare = 1, stopWords } = options;
  const limit = maxShare * textCount(texts);
  return Uint32Array.from(texts.words.keys()).filter(
    (word) =>
      frequencies[word]! >= minTexts && frequencies[word]! <= limit && !stopWords?.has(texts.words[word]!),
  );
}

function countedRows({ tokens, starts }: TextWords, places: Int32Array, V: number) {
  const counts = new Float32Array(V);
  const rowStarts = new Uint32Array(starts.length);
  const terms = new Uint32Array(tokens.length);
  const values = new Float32Array(tokens.length);
  let filled = 0;
  for (let text = 0; text + 1 < starts.length; text++) {
    const first = filled;
    for (let at = starts[text]!; at < starts[text + 1]!; at++) {
      const term = places[tokens[at]!]!;
      if (term < 0) continue;
      if (counts[term] === 0) terms[filled++] = term;
      counts[term]!++;
    }
    const row = terms.subarray(first, filled).sort();
    for (const [at, term] of row.entries()) {
      values[first + at] = counts[term]!;
      counts[term] = 0;
    }
    rowStarts[text + 1] = filled;
  }
  return { starts: rowStarts, terms: terms.slice(0, filled), counts: values.slice(0, filled) };
}
