import type { LanguageRun } from '@hidden-schema/hsn';
import { z } from 'zod';
import { analysis } from './analysis.ts';

export const explain = analysis({
  name: 'explain',
  summary: 'which words of a text carry which symbol',
  description: 'Show which words of a text carry which symbol of its walk.',
  needs: ['texts'],
  options: z.strictObject({ text: z.string().regex(/\S/).describe('the text') }),
  flags: { text: { argument: '[text]', takes: 'a text with words' } },
  first: 'text',
  files: false,
  run: async ({ run }, { text }) => {
    const { explainText } = await import('./explain-text.ts');
    const { explainedSpans } = await import('./explain-page.ts');
    const explained = await explainText(run as LanguageRun, text);
    return { ...explained, html: explainedSpans(explained) };
  },
  tables: async ({ words, untried }, { run }) => {
    const { symbolTitles } = await import('../symbols/names.ts');
    const title = symbolTitles(run.run);
    const rows = words.flatMap(({ word, symbol, weight }) =>
      symbol === null ? [] : [[word, title(symbol), weight]],
    );
    const columns = [{ title: 'word' }, { title: 'symbol' }, { title: 'weight', digits: 2 }];
    return {
      sheets: [{ name: 'explain', title: 'Words that carry a symbol', columns, rows }],
      ...(untried > 0 ? { text: `The last ${untried} words were not tried.` } : {}),
    };
  },
  examples: [
    ['hsn explain run "the soup was cold and the waiter was rude"', ''],
    ['hsn explain run "the soup was cold" --html soup.html', ''],
    ['hsn explain run "the soup was cold" --json', ''],
    ['hsn explain run --check 100', 'whether explanations hold, on texts of the run'],
  ],
  notes: `Each word is left out in turn (occlusion): it carries the symbol of the walk that the text is then least near to. Words in
colours carry the symbol of that colour, stronger ones in bold; where there are no colours a number follows. --check leaves
out the words that carry the first symbol of each text, and as many others at random, and counts how often it changes.`,
});
