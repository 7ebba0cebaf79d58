import { z } from 'zod';
import { PERIODS } from '../measures/period-lengths.ts';
import { analysis, given, limit } from './analysis.ts';

export const time = analysis({
  name: 'time',
  summary: 'symbols and links over time, with bursts',
  description: 'Show how the shares of symbols and links change over time, and name bursts.',
  needs: ['texts'],
  options: z.strictObject({
    column: z.string().optional().describe('column with the dates (default: the one named in training)'),
    period: z
      .enum(PERIODS)
      .optional()
      .describe('day, week, month, quarter, year, lustrum, decade, … (default: by how much there is)'),
    limit,
  }),
  flags: { column: { name: 'time-column', value: 'name' }, period: { value: 'length' } },
  files: true,
  run: async ({ run, encoded, signal }, options) => {
    const { textTimes } = await import('../texts/text-columns.ts');
    const { studyTime } = await import('../measures/time.ts');
    const texts = await encoded(options.limit);
    const { column, times } = await textTimes(run, texts, { column: options.column, signal });
    const { walks, symbols, length } = texts;
    return { column, ...studyTime({ walks, symbols, length, times }, given('period', options.period)) };
  },
  tables: async (study, source) => {
    const { burstSheet, timeFigureOf, timeTables } = await import('./time-sheets.ts');
    const { symbolTitles } = await import('./source.ts');
    const title = await symbolTitles(source);
    const bursts = burstSheet(study, title);
    return {
      sheets: [bursts, ...timeTables(study, title)],
      shown: [bursts],
      figures: [
        timeFigureOf(study, 'symbols', title),
        ...(study.links.length > 0 ? [timeFigureOf(study, 'links', title)] : []),
      ],
    };
  },
  examples: [
    ['hsn train --corpus speeches.csv --time-column year --stage discover --out run && hsn time run', ''],
    ['hsn time run --time-column year', 'of a run that was not told of dates'],
    ['hsn time run --period decade --json', ''],
  ],
  notes: `Shares of texts on each symbol and link over time, with Wilson intervals; bursts after Kleinberg (2003): periods in which
twice the usual share explains the counts better. Dates are years, decades (1860s), ISO dates with or without a time,
4.3.1861, 3/4/1861, 4 March 1861, March 1861, 1861-Q1, or seconds since 1970; an empty cell is no date.`,
});
