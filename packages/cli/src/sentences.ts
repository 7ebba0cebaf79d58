import type { CorpusReport, TextSettings } from '@hidden-schema/text';
import { say } from './terminal.ts';

export interface SentenceOptions extends Partial<TextSettings> {
  signal: AbortSignal;
}

/** Sentences of a file, or of standard input as they come, in batches; `report` counts what was done with them. */
export async function* sentencesOf(
  file: string | undefined,
  options: SentenceOptions,
  report: CorpusReport,
): AsyncGenerator<string[]> {
  const { streamedTexts, TextFiles } = await import('@hidden-schema/text/corpus');
  const plain = options.format === undefined || options.format === 'text';
  if ((file === undefined || file === '-') && plain) {
    yield* streamedTexts(process.stdin, options, report);
    return;
  }
  const files = await TextFiles.find(file ?? '-', options);
  for (const note of files.notes) say(`${note}\n`);
  try {
    yield* files.texts(report);
  } finally {
    files.close();
  }
}
