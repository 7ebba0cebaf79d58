import { z } from 'zod';
import type { SymbolMeaning } from '../symbols/meaning.ts';
import { analysis, limit, type Report } from './analysis.ts';

async function tables(meanings: SymbolMeaning[]): Promise<Report> {
  const { symbolSheet } = await import('./sheets.ts');
  return { sheets: [symbolSheet(meanings)] };
}

export const symbols = analysis({
  name: 'symbols',
  summary: 'what symbols mean: words, sentences, labels, neighbours',
  description: 'What the symbols of a run mean.',
  needs: [],
  options: z.strictObject({ limit }),
  files: true,
  run: async (source, options) => {
    const { meaningsOf } = await import('./source.ts');
    return meaningsOf(source, options.limit);
  },
  tables,
  atHand: {
    read: async ({ directory, checkpoint }, { limit }) => {
      const { meaningsAtHand } = await import('../symbols/meanings-file.ts');
      return meaningsAtHand(directory, { checkpoint, limit });
    },
    tables,
  },
  examples: [
    ['hsn symbols run', 'all symbols with their words'],
    ['hsn symbols run 17', 'one of them: words, sentences, labels, neighbours, usage'],
    ['hsn symbols run "oil prices"', 'the same by its name'],
    ['hsn symbols run 17 --json', ''],
    ['hsn symbols run --levels 5,10,20', 'the same symbols merged into 5, 10 and 20 groups, as a tree'],
    ['hsn rename run 17 "complaints"', 'a name of your own, shown everywhere'],
    ['hsn merge run 3 17', 'two symbols as one; hsn split run 8, hsn undo run'],
  ],
  notes: `Words are ranked by pointwise mutual information with the symbol in a sentence, and by the attention that the decoder
pays to the symbol when it generates them. --levels joins symbols by their vectors and links, without training and without
changing the run; symbols that you named stay apart for as long as a level has enough groups. What is found is stored in the run (analysis/), so that it is quick again.`,
});
