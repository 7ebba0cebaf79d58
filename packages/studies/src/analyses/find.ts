import { z } from 'zod';
import type { Sheet } from '../drawing/sheets.ts';
import type { FoundText } from '../texts/finder.ts';
import { analysis, limit } from './analysis.ts';

export const find = analysis({
  name: 'find',
  summary: 'symbols, walks and sentences near a phrase',
  description: 'Find the symbols, walks and sentences of a run that are nearest to a phrase.',
  needs: [],
  options: z.strictObject({
    phrase: z.string().describe('what to look for: a word, a phrase or a text'),
    top: z.int().min(1).default(5).describe('how many of each'),
    limit,
  }),
  flags: { phrase: { argument: '<phrase...>' } },
  first: 'phrase',
  files: false,
  run: async (source, { phrase, top, limit: most }) => {
    const { UserError } = await import('@hidden-schema/base');
    const { findNear } = await import('../texts/finder.ts');
    const { meaningsOf } = await import('./source.ts');
    if (phrase.trim() === '')
      throw new UserError('the phrase to look for is empty; name some words, such as "late delivery"');
    const { run, signal } = source;
    const found = await findNear(run, await source.encoded(most), phrase, { top, signal });
    const meanings = await meaningsOf(source);
    const symbols = found.symbols.map((one) => {
      const { name, words } = meanings[one.symbol]!;
      return { ...one, name, words: words.slice(0, 6).map(({ word }) => word) };
    });
    return { ...found, symbols };
  },
  tables: async ({ phrase, walk, probabilities, symbols, walks, sentences }, source) => {
    const { columnsOf } = await import('../drawing/sheets.ts');
    const { withoutStays } = await import('../measures/symbol-uses.ts');
    const { symbolTitles } = await import('./source.ts');
    const title = await symbolTitles(source);
    const near = (texts: readonly FoundText[]): Pick<Sheet, 'columns' | 'rows'> => ({
      columns: columnsOf({ close: 2, 'same steps': null, label: null, walk: null, sentence: null }),
      rows: texts.map(({ closeness, shared, label, walk: own, text }) => [
        ...[closeness ?? undefined, shared, label ?? undefined, withoutStays(own).join(' '), text],
      ]),
    });
    const all: Sheet[] = [
      {
        ...{ name: 'find-walk', title: `The walk of "${phrase}"` },
        columns: columnsOf({ step: 'left', symbol: null, probability: 2 }),
        rows: withoutStays(walk).map((symbol, i) => [i + 1, title(symbol), probabilities[i]!]),
      },
      {
        ...{ name: 'find-symbols', title: 'Nearest symbols' },
        columns: columnsOf({ close: 2, symbol: null, words: null }),
        rows: symbols.map(({ symbol, closeness, words }) => [
          ...[closeness ?? undefined, title(symbol), words.join(' ') || undefined],
        ]),
      },
      { name: 'find-walks', title: 'Nearest walks', ...near(walks) },
      { name: 'find-sentences', title: 'Nearest sentences', ...near(sentences) },
    ];
    return { sheets: all.filter(({ rows }) => rows.length > 0) };
  },
  examples: [
    ['hsn find run "late delivery"', ''],
    ['hsn find run "war in the Pacific" --top 10', ''],
    ['hsn find run "late delivery" --json | jq .sentences', ''],
  ],
  notes: `Symbols and sentences are near by the cosine in the space that both are vectors in (docs/research/discovery.md); walks are near by
the steps at which they are on the same symbol as the phrase's own walk, then by symbols in common.`,
});
