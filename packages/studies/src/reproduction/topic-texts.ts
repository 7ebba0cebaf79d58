import { UserError } from '@hidden-schema/base';
import { emptyReport, TextFiles, TextReader } from '@hidden-schema/text';
import { type DocumentTerms, documentTerms } from '../measures/document-terms.ts';
import { englishStopWords } from '../measures/stop-words.ts';
import { type TextWords, textWords } from '../measures/text-words.ts';

/** A corpus for models of topics. */
export interface TopicTexts {
  name: string;
  texts: string[];
  /** Of each text where labels can be compared with; undefined for a text without one. */
  labels?: (string | undefined)[];
  /** Why labels are not compared with, where the file has some. */
  note?: string;
}

/** Folds of the linear reader: a label of fewer texts cannot be in each. */
const fewestOfLabel = 3;

/** All texts of a file or folder, or the first `limit`. */
export async function readTopicTexts(
  name: string,
  input: string,
  { limit = Number.POSITIVE_INFINITY, signal }: { limit?: number; signal?: AbortSignal } = {},
): Promise<TopicTexts> {
  const files = await TextFiles.find(input, signal ? { signal } : {});
  try {
    const report = emptyReport(files.settings.onBadUtf8);
    const reader = new TextReader(files.settings, report);
    const texts: string[] = [];
    const labels: number[] = [];
    for (const source of files.sources) {
      if (texts.length >= limit) break;
      for await (const batch of reader.batches(source, signal ? { signal } : {})) {
        signal?.throwIfAborted();
        for (const { text, label } of batch.slice(0, limit - texts.length)) {
          texts.push(text);
          labels.push(label);
        }
        if (texts.length >= limit) break;
      }
    }
    if (texts.length === 0) throw new UserError(`${input} holds no texts; expected one a line`);
    const named = labels.map((label) => report.labels[label]?.[0]);
    return { name, texts, ...comparableLabels(named) };
  } finally {
    files.close();
  }
}

/** Labels that say something of texts: two or more, and not one for each text. */
function comparableLabels(labels: (string | undefined)[]): Pick<TopicTexts, 'labels' | 'note'> {
  const known = labels.filter((label) => label !== undefined);
  if (known.length === 0) return {};
  const different = new Set(known).size;
  if (different === 1) return { note: 'all labels are the same, so nothing is compared with them' };
  if (known.length < fewestOfLabel * different)
    return {
      note: `${different} labels for ${known.length} texts are names rather than groups, so nothing is compared with them`,
    };
  return { labels };
}

export interface TopicWords {
  /** All words, in order, for coherence. */
  words: TextWords;
  /** Counts of the vocabulary, for models. */
  matrix: DocumentTerms;
}

/** Words that models see: in at least five texts, two of a small corpus, in at most half of them, no English stop words. */
export function topicWords({ name, texts }: TopicTexts): TopicWords {
  const words = textWords(texts);
  const minTexts = texts.length < 1000 ? 2 : 5;
  const matrix = documentTerms(words, { minTexts, maxShare: 0.5, stopWords: englishStopWords });
  if (matrix.words.length === 0)
    throw new UserError(
      `${name} has no words to name symbols by: none is in ${minTexts} texts and in at most half of them; give more texts`,
    );
  return { words, matrix };
}
