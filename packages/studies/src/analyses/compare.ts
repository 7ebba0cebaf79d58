import { z } from 'zod';
import { analysis, by, given, limit } from './analysis.ts';

export const compare = analysis({
  name: 'compare',
  summary: 'what one group of texts has more of than others',
  description: 'Compare groups of texts by the symbols and links of their walks.',
  needs: [],
  options: z.strictObject({
    by,
    groups: z
      .tuple([z.string().min(1), z.string().min(1)])
      .optional()
      .describe('two groups to compare with each other (default: each with all others)'),
    limit,
  }),
  flags: {
    by: { value: 'column' },
    groups: { value: 'A,B', takes: 'two groups with a comma between' },
  },
  files: true,
  run: async ({ run, encoded, signal }, options) => {
    const { walksBy } = await import('../texts/text-columns.ts');
    const { compareGroups } = await import('../measures/groups.ts');
    const walks = await walksBy(run, await encoded(options.limit), { column: options.by, signal });
    return { by: options.by, ...compareGroups(walks, given('pair', options.groups)) };
  },
  tables: async (comparison, source) => {
    const sheets = await import('./compare-sheets.ts');
    const { symbolTitles } = await import('./source.ts');
    const title = await symbolTitles(source);
    const shown = sheets.comparisonSheets(comparison, title);
    return {
      sheets: [...shown, ...sheets.comparisonTables(comparison, title)],
      shown: shown.filter(({ rows }) => rows.length > 0),
      text: sheets.comparisonText(comparison),
      figures: shown[0]!.rows.length > 0 ? [sheets.comparisonFigure(comparison, title, comparison.by)] : [],
    };
  },
  examples: [
    ['hsn compare run', 'by label: each label beside all others'],
    ['hsn compare run --by party', "by another column of the corpus' table"],
    ['hsn compare run --by party --groups Democratic,Republican', ''],
    ['hsn compare run --json --out figures', ''],
  ],
  notes: `Which symbols and links one group of texts has more of: the share of its texts whose walk has them, with Wilson intervals,
Fisher's exact test corrected after Benjamini and Hochberg, and Cohen's h (0.2 is small, 0.5 middling, 0.8 large). Shown is
what a group has more of at a corrected p below 0.05; the CSV files and --json hold every test.`,
});
