import { z } from 'zod';
import { analysis, limit } from './analysis.ts';

export const levels = analysis({
  name: 'levels',
  verb: 'symbols',
  summary: 'symbols merged into fewer groups, each level within the one before; nothing is changed',
  description: 'Merge symbols into fewer groups by their vectors and links.',
  needs: [],
  options: z.strictObject({
    counts: z
      .array(z.number())
      .readonly()
      .describe('merge symbols into so many groups, one or more levels: 5,10,20'),
    limit,
  }),
  flags: { counts: { name: 'levels', value: 'counts' } },
  first: 'counts',
  files: true,
  run: async (source, { counts, limit: most }) => {
    const { symbolLevels } = await import('../symbols/levels.ts');
    const { meaningsOf } = await import('./source.ts');
    const { run, signal } = source;
    return symbolLevels(run, counts, { meanings: () => meaningsOf(source, most), signal });
  },
  tables: async (merged, source) => {
    const { levelSheets, levelsText } = await import('../symbols/levels.ts');
    const { meaningsOf } = await import('./source.ts');
    const tree = levelsText(merged, await meaningsOf(source));
    return { sheets: levelSheets(merged), shown: [], tree };
  },
  examples: [
    ['hsn symbols run --levels 5,10,20', 'the same symbols merged into 5, 10 and 20 groups, as a tree'],
  ],
  notes: 'Symbols that you named stay apart for as long as a level has enough groups.',
});
