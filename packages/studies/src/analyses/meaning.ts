import { z } from 'zod';
import type { SymbolMeaning } from '../symbols/meaning.ts';
import { analysis, limit, type Report } from './analysis.ts';

export const meaning = analysis({
  name: 'meaning',
  verb: 'symbols',
  summary: 'what one symbol means: words, sentences, labels, neighbours, usage',
  description: 'What one symbol of a run means.',
  needs: [],
  options: z.strictObject({
    symbol: z.union([z.int().min(0), z.string()]).describe('one symbol, by number or name'),
    limit,
  }),
  flags: { symbol: { argument: '[symbol]', takes: 'a number or a name' } },
  first: 'symbol',
  files: true,
  run: async (source, { symbol, limit: most }) => {
    const { symbolNamed } = await import('../symbols/names.ts');
    const { meaningsOf } = await import('./source.ts');
    const { run } = source;
    const place = symbolNamed(String(symbol), run.run.directory, run.symbols);
    return (await meaningsOf(source, most))[place]!;
  },
  tables,
  atHand: {
    read: async ({ directory, checkpoint }, { symbol, limit: most }) => {
      const { meaningsAtHand } = await import('../symbols/meanings-file.ts');
      const { symbolNamed } = await import('../symbols/names.ts');
      const meanings = meaningsAtHand(directory, { checkpoint, limit: most });
      return meanings?.[symbolNamed(String(symbol), directory, meanings.length)];
    },
    tables,
  },
  examples: [['hsn symbols run 17', 'one symbol: words, sentences, labels, neighbours, usage']],
  notes: 'Words are ranked by pointwise mutual information with the symbol in a sentence.',
});

async function tables(one: SymbolMeaning): Promise<Report> {
  const { meaningSheets } = await import('./sheets.ts');
  return { name: `symbol-${one.symbol}`, sheets: meaningSheets(one) };
}
