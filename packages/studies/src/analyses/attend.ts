import type { LanguageRun } from '@hidden-schema/hsn';
import { z } from 'zod';
import { analysis, limit } from './analysis.ts';

export const attend = analysis({
  name: 'attend',
  summary: 'which symbols words attend to',
  description:
    "Distributions of the most attended symbol, and how far words differ (the paper's appendix G).",
  needs: ['decoder'],
  options: z.strictObject({
    words: z.array(z.string()).describe('words with commas between, two or more'),
    limit,
  }),
  flags: { words: { value: 'list' } },
  first: 'words',
  files: true,
  run: async ({ run, encoded, signal, progress }, { words, limit: most }) => {
    const { studyAttention } = await import('../symbols/attention.ts');
    const onProgress = progress('attention', 'sentences');
    return studyAttention(run as LanguageRun, await encoded(most), words, { signal, onProgress });
  },
  tables: async (study, { run }) => {
    const { drawAttention } = await import('./figures.ts');
    const { symbolNames } = await import('../symbols/names.ts');
    const { attentionSheet } = await import('./sheets.ts');
    return {
      name: 'attention',
      sheets: [attentionSheet(study)],
      figures: drawAttention(study, symbolNames(run.run)),
    };
  },
  examples: [
    ['hsn attend run --words good,bad,great', ''],
    ['hsn attend run --words good,bad --limit 20000 --json', ''],
  ],
  notes: `The paper's appendix "Which symbols do words attend to?": for each word the distribution of the symbol that the decoder
attends to most when it generates the word, for each layer and head; KL between words for each head, averaged over the
heads of a layer. A word of several tokens takes their mean attention; capital letters do not matter.`,
});
