import type { LanguageRun } from '@hidden-schema/hsn';
import { z } from 'zod';
import { analysis } from './analysis.ts';
import { drawing, drawingFlags, oneLine, temperature, topP, writingOf } from './writing.ts';

export const generate = analysis({
  name: 'generate',
  summary: 'sentences from a walk',
  description: 'Write sentences about a walk, or about the walk that another sentence has.',
  needs: ['decoder'],
  options: z.strictObject({
    walk: z.array(z.number()).optional().describe('symbols with commas between'),
    like: z.string().optional().describe('the most probable walk of this sentence'),
    count: z.int().min(1).default(1).describe('sentences to write'),
    temperature: temperature.default(0.7).describe('0 takes the best token each time'),
    topP: topP.default(0.9).describe('only the best tokens that together have this probability'),
    ...drawing,
  }),
  flags: { ...drawingFlags, walk: { value: 'symbols' } },
  first: 'walk',
  files: false,
  run: async (source, { walk, like, count, ...asked }) => {
    const { UserError } = await import('@hidden-schema/base');
    const { texts } = source.run as LanguageRun;
    if ((walk === undefined) === (like === undefined))
      throw new UserError('what about? give either --walk 3,17,8 or --like "a sentence"');
    if (like?.trim() === '') throw new UserError('--like takes a sentence, got an empty one');
    const about = walk ?? (await texts.read([like!.trim()])).walks[0]!.walk;
    return { walk: about, texts: await texts.write(about, { count, ...writingOf(asked, source.writing) }) };
  },
  tables: async ({ texts }) => ({ sheets: [], tree: texts.map(oneLine).join('\n') }),
  examples: [
    ['hsn generate run --walk 3,17,8,8,21', ''],
    ['hsn generate run --like "the food was great" --count 5 --temperature 0.8 --top-p 0.9 --seed 7', ''],
    [
      'hsn generate optimus-run --prior --count 5',
      'a rival: a latent of its prior for each (docs/research/rivals.md)',
    ],
  ],
  notes: 'The same walk, options and seed write the same sentences; --json prints their walk too.',
});
