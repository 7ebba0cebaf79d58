import type { LanguageRun } from '@hidden-schema/hsn';
import { z } from 'zod';
import { analysis } from './analysis.ts';
import type { Faithfulness } from './explain-text.ts';

export const faithfulness = analysis({
  name: 'faithfulness',
  verb: 'explain',
  summary: 'whether explanations of texts hold: how often the first symbol changes without their words',
  description: 'Measure explanations on texts of the run.',
  needs: ['texts'],
  options: z.strictObject({
    count: z.int().min(1).describe('instead measure explanations on so many texts of the run'),
  }),
  flags: { count: { name: 'check' } },
  first: 'count',
  files: false,
  run: async ({ run, encoded, signal, progress }, { count }) => {
    const { explanationFaithfulness } = await import('./explain-text.ts');
    const corpus = await encoded();
    const texts = Array.from({ length: Math.min(count, corpus.count) }, (_, n) => corpus.sentence(n).text);
    const onProgress = progress('explain', 'texts');
    return explanationFaithfulness(run as LanguageRun, texts, { signal, onProgress });
  },
  tables: async ({ texts, without, random, words, p }) => {
    const { columnsOf } = await import('../drawing/sheets.ts');
    return {
      sheets: [
        {
          name: 'explain-check',
          title: `Texts whose first symbol changes when ${words.toFixed(1)} words are left out, on average`,
          caption: `${texts} texts; Wilson intervals of 95 %; McNemar's exact test: p ${p < 0.0001 ? '< 0.0001' : `= ${p.toFixed(4)}`}.`,
          columns: columnsOf({ 'left out': 'left', '% changed': 1, '95 %': 'left' }),
          rows: [row('words said to carry it', without), row('as many others, at random', random)],
        },
      ],
    };
  },
  examples: [['hsn explain run --check 100', 'whether explanations hold, on texts of the run']],
  notes: 'Leaves out the words that carry the first symbol of each text, and as many others at random.',
});

const row = (name: string, { share, interval: [low, high] }: Faithfulness['without']) => [
  ...[name, 100 * share, `${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)}`],
];
