import { z } from 'zod';
import { identity, name, step, symbol } from './schemas.ts';

/** Answers about coarser levels of symbols, and about edits that merge and split them. */

const group = z.object({
  group: z.int().nonnegative().describe('Its number at its level.'),
  symbols: z.array(symbol),
  name: z.string(),
  words: z.array(z.string()),
  share: z.number().describe('Share of texts that begin with one of its symbols.'),
});

export const levelsSchema = z.object({
  step,
  identity,
  symbols: z.int().describe('K.'),
  levels: z.array(z.object({ count: z.int(), groups: z.array(group).describe('The largest first.') })),
});

export const editSchema = z.object({
  what: z.string().describe('What was done, in a line.'),
  identity: z.string().describe('Of the run as it is now: another one after every edit.'),
  symbols: z.int().describe('K now.'),
  edits: z.array(z.string()).describe('What can be undone, the oldest first.'),
  changed: z.array(symbol).describe('Symbols, by their numbers now, that were made or changed.'),
  renumbered: z
    .array(z.tuple([symbol, symbol]))
    .describe('Symbols that have another number now, though nothing else changed: before, now.'),
});

export const nameSchema = z.object({
  symbol,
  name,
  before: name.describe('What a person had named it before, if anyone had.'),
});
