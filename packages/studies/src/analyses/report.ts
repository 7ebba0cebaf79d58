import { z } from 'zod';
import { analysis, limit } from './analysis.ts';

export const report = analysis({
  name: 'report',
  summary: 'all tables and figures of a run as one page',
  description: 'Write one self-contained HTML page about a run, and its model card.',
  needs: [],
  options: z.strictObject({
    words: z
      .array(z.string())
      .optional()
      .describe('texts: words of the attention study, with commas between'),
    texts: z
      .int()
      .min(1)
      .optional()
      .describe('texts that the search of the page holds (default: up to 5000, 1.2 million letters in all)'),
    samples: z
      .int()
      .min(1)
      .optional()
      .describe('graphs drawn for statistics (default: 500, fewer for many symbols)'),
    limit,
  }),
  flags: { words: { value: 'list' } },
  files: false,
  run: async (source, { limit: most, ...options }) => {
    const { runReport } = await import('./report-sections.ts');
    await source.encoded(most);
    return { html: await runReport(source, options) };
  },
  tables: async ({ html }) => ({
    sheets: [],
    text: `The page has ${html.length} characters; hsn report writes it to a file.`,
  }),
  examples: [
    ['hsn report run', 'RUN/report.html'],
    ['hsn report run --words good,bad,great --out report.html', ''],
  ],
  notes: `One page that begins in plain words: the picture, ten main themes with texts, what differs between labels, what changed over
time (where training was told of dates). Folded below: a search, all themes and texts, comparisons, graph, training,
attention, interpolation. What is open is printed. It loads nothing, and runs only its own search, so it can be sent as it is. The model card, MODEL.md in the run, is written anew too.`,
});
