import { UserError } from '@hidden-schema/base';
import { TextFiles } from '@hidden-schema/text/corpus';
import { emptyReport } from '@hidden-schema/text/corpus-report';
import { TextReader } from '@hidden-schema/text/reader';
import { type TextWords, textWords } from './text-words.ts';

/** The words of another corpus, in which those of topics are looked up. */
export async function readReference(input: string, signal?: AbortSignal): Promise<TextWords> {
  const { texts } = await readTexts(input, { signal });
  if (texts.length === 0) throw new UserError(`${input} holds no texts; expected one a line`);
  return textWords(texts);
}

/** The texts of a file or folder with their labels, the first `limit` of them. */
export async function readTexts(
  input: string,
  { limit = Number.POSITIVE_INFINITY, signal }: { limit?: number; signal?: AbortSignal | undefined },
) {
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
