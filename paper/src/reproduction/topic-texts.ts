import { UserError } from '@hidden-schema/base/errors';
import {
  type DocumentTerms,
  fewestTextsOf,
  tellingTerms,
} from '@hidden-schema/studies/measures/document-terms';
import { readTexts } from '@hidden-schema/studies/measures/reference-texts';
import { type TextWords, textWords } from '@hidden-schema/studies/measures/text-words';
import { type ComparableLabels, comparableLabels } from '@hidden-schema/studies/measures/topic-figures';

/** A corpus for models of topics. */
export interface TopicCorpus extends ComparableLabels {
  name: string;
  texts: string[];
  /** All words, in order, for coherence. */
  words: TextWords;
  /** Counts of the vocabulary, for models. */
  matrix: DocumentTerms;
}

interface TopicReading {
  /** As many texts are needed at least. */
  symbols: number;
  /** The first so many texts are read. */
  limit?: number;
  signal?: AbortSignal;
}

/** The texts of a file or folder with their words; refuses those that no model can be fitted to. */
export async function readTopicCorpus(
  name: string,
  input: string,
  { symbols, limit = Number.POSITIVE_INFINITY, signal }: TopicReading,
): Promise<TopicCorpus> {
  const { texts, labels } = await readTexts(input, { limit, signal });
  if (texts.length === 0) throw new UserError(`${input} holds no texts; expected one a line`);
  if (texts.length < symbols)
    throw new UserError(
      `${name} has ${texts.length} texts, ${symbols} symbols need at least as many; ask for fewer symbols, or give more texts`,
    );
  return { name, texts, ...wordsOf(name, texts), ...comparableLabels(labels) };
}

/** Words that models see: in at least five texts, two of a small corpus, in at most half of them, no stop words. */
function wordsOf(name: string, texts: readonly string[]): Pick<TopicCorpus, 'words' | 'matrix'> {
  const words = textWords(texts);
  const matrix = tellingTerms(words);
  if (matrix.words.length === 0)
    throw new UserError(
      `${name} has no words to name symbols by: none is in ${fewestTextsOf(texts.length)} texts and in at most half of them; give more texts`,
    );
  return { words, matrix };
}
