import { z } from 'zod';
import type { columnsOf, Sheet } from '../drawing/sheets.ts';
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
  const { titleOf } = await import('../symbols/names.ts');
  const { withoutStays } = await import('../measures/symbol-uses.ts');
  const { columnsOf } = await import('../drawing/sheets.ts');
  return { name: `symbol-${one.symbol}`, sheets: sheetsOf(one, { titleOf, withoutStays, columnsOf }) };
}

/** A sheet before it has the symbol's name. */
type Part = Pick<Sheet, 'name' | 'title' | 'columns' | 'rows'>;

/** Everything about one symbol. */
function sheetsOf(one: SymbolMeaning, shown: Shown): Sheet[] {
  const called = one.name === null ? `Symbol ${one.symbol}` : `Symbol ${one.symbol}, ${one.name}`;
  const said = one.description === undefined ? '' : ` (${one.description})`;
  return [...wordParts(one, shown), ...walkParts(one, shown)]
    .filter(({ rows }) => rows.length > 0)
    .map(({ name, title, ...table }) => ({
      name: `symbol-${one.symbol}-${name}`,
      title: name === 'usage' ? `${called}${said}: ${title}` : `${called}: ${title}`,
      ...table,
    }));
}

interface Shown {
  withoutStays: (walk: readonly number[]) => number[];
  titleOf: (symbol: number, name: string | null) => string;
  columnsOf: typeof columnsOf;
}

const wordParts = (one: SymbolMeaning, { columnsOf }: Shown): Part[] => [
  {
    name: 'usage',
    title: `in ${one.sentences} sentences, ${(100 * one.usage).toFixed(1)} % of what walks say; by step`,
    columns: one.usageByPosition.map((_, i) => ({ title: `step ${i + 1}`, digits: 3 })),
    rows: [one.usageByPosition],
  },
  {
    ...{ name: 'words', title: 'words by mutual information' },
    columns: columnsOf({ word: null, bits: 2, sentences: null }),
    rows: one.words.map(({ word, pmi, count }) => [word, pmi, count]),
  },
  {
    ...{ name: 'attended', title: 'words that attend to it' },
    columns: columnsOf({ word: null, share: 3, times: null }),
    rows: one.attended.map(({ word, share, count }) => [word, share, count]),
  },
  {
    ...{ name: 'labels', title: 'labels' },
    columns: columnsOf({ label: null, share: 3, lift: 2 }),
    rows: one.labels.map(({ label, share, lift }) => [label, share, lift]),
  },
];

const walkParts = (one: SymbolMeaning, { withoutStays, titleOf, columnsOf }: Shown): Part[] => [
  {
    ...{ name: 'neighbours', title: 'neighbours' },
    columns: columnsOf({ symbol: 'left', texts: null, 'times chance': 1, from: 1, to: 1, probability: 3 }),
    rows: one.neighbours.map(({ symbol, name, probability, flow, lift, interval }) => [
      ...[titleOf(symbol, name), flow, lift, ...interval, probability],
    ]),
  },
  {
    ...{ name: 'sentences', title: 'representative sentences' },
    columns: columnsOf({ label: null, walk: null, sentence: null }),
    rows: one.examples.map(({ label, walk, text }) => [
      ...[label ?? undefined, withoutStays(walk).join(' '), text],
    ]),
  },
];
