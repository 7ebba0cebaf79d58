import { UserError } from '@hidden-schema/base';
import { emptyReport, TextFiles, TextReader } from '@hidden-schema/text';
import { type DocumentTerms, fewestTextsOf, tellingTerms } from '../measures/document-terms.ts';
import { type TextWords, textWords } from '../measures/text-words.ts';
import { type ComparableLabels, comparableLabels } from '../measures/topic-figures.ts';

/** A corpus for models of topics. */
export interface TopicCorpus extends ComparableLabels {
  name: string;
  texts: string[];
  /** All words, in order, for coherence. */
  words: TextWords;
  /** Counts of the vocabulary, for models. */
  matrix: DocumentTerms;
}

export interface TopicReading {
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
  const { texts, labels } = await readTexts(input, limit, signal);
  if (texts.length === 0) throw new UserError(`${input} holds no texts; expected one a line`);
  if (texts.length < symbols)
    throw new UserError(
      `${name} has ${texts.length} texts, ${symbols} symbols need at least as many; ask for fewer symbols, or give more texts`,
    );
  return { name, texts, ...wordsOf(name, texts), ...comparableLabels(labels) };
}

/** The words of another corpus, in which those of topics are looked up. */
export async function readReference(input: string, signal?: AbortSignal): Promise<TextWords> {
  const { texts } = await readTexts(input, Number.POSITIVE_INFINITY, signal);
  if (texts.length === 0) throw new UserError(`${input} holds no texts; expected one a line`);
  return textWords(texts);
}

async function readTexts(input: string, limit: number, signal: AbortSignal | undefined) {
  const watch = signal ? { signal } : {};
  // As they are, since others read the same files.
  const files = await TextFiles.find(input, { ...watch, clean: false });
  try {
    const report = emptyReport(files.settings.onBadUtf8);
    const reader = new TextReader(files.settings, report);
    const texts: string[] = [];
    const labels: (string | undefined)[] = [];
    for (const source of files.sources)
      for await (const batch of reader.batches(source, watch)) {
        signal?.throwIfAborted();
        for (const { text, label } of batch.slice(0, limit - texts.length)) {
          texts.push(text);
          labels.push(report.labels[label]?.[0]);
        }
        if (texts.length >= limit) return { texts, labels };
      }
    return { texts, labels };
  } finally {
    files.close();
  }
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
