import { z } from 'zod';
import type { SymbolMeaning } from '../analysis/meaning.ts';
import type { Sheet } from '../evaluation/sheets.ts';
import { analysis, limit } from './analysis.ts';

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
    const { symbolNamed } = await import('../analysis/names.ts');
    const { meaningsOf } = await import('./source.ts');
    const { run } = source;
    const place = symbolNamed(String(symbol), run.run.directory, run.symbols);
    return (await meaningsOf(source, most))[place]!;
  },
  tables: async (one) => {
    const { titleOf } = await import('../analysis/names.ts');
    const { withoutStays } = await import('../measures/step-weights.ts');
    const sheets = sheetsOf(one, { titleOf, withoutStays });
    return { name: `symbol-${one.symbol}`, sheets };
  },
  examples: [['hsn symbols run 17', 'one symbol: words, sentences, labels, neighbours, usage']],
  notes: 'Words are ranked by pointwise mutual information with the symbol in a sentence.',
});

/** A sheet before it has the symbol's name. */
type Part = Pick<Sheet, 'name' | 'title' | 'columns' | 'rows'>;

/** Everything about one symbol. */
function sheetsOf(one: SymbolMeaning, shown: Shown): Sheet[] {
  const called = one.name === null ? `Symbol ${one.symbol}` : `Symbol ${one.symbol}, ${one.name}`;
  const said = one.description === undefined ? '' : ` (${one.description})`;
  return [...wordParts(one), ...walkParts(one, shown)]
    .filter(({ rows }) => rows.length > 0)
    .map(({ name, title, ...table }) => ({
      name: `symbol-${one.symbol}-${name}`,
      title: name === 'usage' ? `${called}${said}: ${title}` : `${called}: ${title}`,
      ...table,
    }));
}

function wordParts(one: SymbolMeaning): Part[] {
  return [
    {
      name: 'usage',
      title: `in ${one.sentences} sentences, ${(100 * one.usage).toFixed(1)} % of what walks say; by step`,
      columns: one.usageByPosition.map((_, i) => ({ title: `step ${i + 1}`, digits: 3 })),
      rows: [one.usageByPosition],
    },
    {
      name: 'words',
      title: 'words by mutual information',
      columns: [{ title: 'word' }, { title: 'bits', digits: 2 }, { title: 'sentences' }],
      rows: one.words.map(({ word, pmi, count }) => [word, pmi, count]),
    },
    {
      name: 'attended',
      title: 'words that attend to it',
      columns: [{ title: 'word' }, { title: 'share', digits: 3 }, { title: 'times' }],
      rows: one.attended.map(({ word, share, count }) => [word, share, count]),
    },
    {
      name: 'labels',
      title: 'labels',
      columns: [{ title: 'label' }, { title: 'share', digits: 3 }, { title: 'lift', digits: 2 }],
      rows: one.labels.map(({ label, share, lift }) => [label, share, lift]),
    },
  ];
}

interface Shown {
  withoutStays: (walk: readonly number[]) => number[];
  titleOf: (symbol: number, name: string | null) => string;
}

function walkParts(one: SymbolMeaning, { withoutStays, titleOf }: Shown): Part[] {
  return [
    {
      name: 'neighbours',
      title: 'neighbours',
      columns: [
        { title: 'symbol', align: 'left' },
        { title: 'texts' },
        { title: 'times chance', digits: 1 },
        { title: 'from', digits: 1 },
        { title: 'to', digits: 1 },
        { title: 'probability', digits: 3 },
      ],
      rows: one.neighbours.map(({ symbol, name, probability, flow, lift, interval }) => [
        titleOf(symbol, name),
        ...[flow, lift, ...interval, probability],
      ]),
    },
    {
      name: 'sentences',
      title: 'representative sentences',
      columns: [{ title: 'label' }, { title: 'walk' }, { title: 'sentence' }],
      rows: one.examples.map(({ label, walk, text }) => [
        label ?? undefined,
        withoutStays(walk).join(' '),
        text,
      ]),
    },
  ];
}
