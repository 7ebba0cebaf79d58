import { z } from 'zod';
import { compareSchema, timeSchema } from './comparison-schemas.ts';
import { editSchema, levelsSchema } from './edit-schemas.ts';
import { type Endpoint, ofRun, one, params, seen } from './inputs.ts';
import { explainSchema, mapSchema, matchesSchema, textsSchema } from './text-schemas.ts';

/** What is asked of texts, of groups of them, and of symbols at coarser levels. */

const group = z.strictObject({
  name: z.string().min(1).max(300),
  texts: z
    .string()
    .max(400_000)
    .describe('One bit for each text of the map, the lowest of the first byte first; base64.'),
});

export const textEndpoints = {
  map: {
    method: 'get',
    path: '/api/map',
    summary: 'The map of texts: the place, walk and label of each',
    query: one,
    response: mapSchema,
  },
  texts: {
    method: 'post',
    path: '/api/texts',
    summary: 'Texts of the map with their walks, by their numbers',
    query: one,
    body: z.strictObject({ at: z.array(z.int().min(0).max(1_000_000_000)).min(1).max(200) }),
    response: textsSchema,
    example: { at: [0, 1, 2] },
  },
  explain: {
    method: 'post',
    path: '/api/explain',
    summary: 'Which words of a text carry which symbol of its walk, by leaving each word out',
    query: one,
    body: z.strictObject({ text: z.string().trim().min(1).max(20_000) }),
    response: explainSchema,
    example: { text: 'a sentence of the corpus' },
  },
  matches: {
    method: 'get',
    path: '/api/matches',
    summary: 'Which texts of the map have all of some words, or words that begin so',
    query: z.strictObject({ ...ofRun, words: z.string().trim().min(1).max(300) }),
    response: matchesSchema,
  },
  levels: {
    method: 'get',
    path: '/api/levels',
    summary: 'Symbols merged into fewer groups, each level within the one before; nothing is changed',
    query: z.strictObject({
      ...ofRun,
      counts: z
        .string()
        .regex(/^\d{1,7}(,\d{1,7}){0,11}$/, 'numbers of groups with commas between, at most 12')
        .transform((text) => text.split(',').map(Number))
        .describe('How many groups each level has: 5,10,20.'),
    }),
    response: levelsSchema,
  },
  merge: {
    method: 'post',
    path: '/api/merge',
    summary: 'Make one symbol of several; stored in the run, and undone by /api/undo',
    query: one,
    body: z.strictObject({ ...seen, symbols: z.array(z.int().min(0).max(1_000_000)).min(2).max(200) }),
    response: editSchema,
    example: { identity: '2026-11-18T09:00:00.000Z', symbols: [3, 17] },
  },
  split: {
    method: 'post',
    path: '/api/symbol/:k/split',
    summary: 'Make two symbols of one; stored in the run, and undone by /api/undo',
    params,
    query: one,
    body: z.strictObject(seen),
    response: editSchema,
    example: { identity: '2026-11-18T09:00:00.000Z' },
  },
  undo: {
    method: 'post',
    path: '/api/undo',
    summary: 'Take the last merging or splitting of symbols back',
    query: one,
    body: z.strictObject(seen),
    response: editSchema,
    example: { identity: '2026-11-18T09:00:00.000Z' },
  },
  compare: {
    method: 'post',
    path: '/api/compare',
    summary: 'Which symbols and links one group of texts has more of than another, or than all other texts',
    query: one,
    body: z.strictObject({
      first: group,
      second: group.optional().describe('All texts that are not in the first unless said.'),
    }),
    response: compareSchema,
    example: { first: { name: 'the first two', texts: 'Aw==' } },
  },
  time: {
    method: 'get',
    path: '/api/time',
    summary: 'Shares of symbols and links over time, with intervals and bursts',
    query: z.strictObject({
      ...ofRun,
      period: z
        .string()
        .max(30)
        .optional()
        .describe('day, week, month, year, decade, …; by how much there is unless said.'),
    }),
    response: timeSchema,
  },
} as const satisfies Record<string, Endpoint>;
