import { z } from 'zod';
import { probability, step, symbol } from './schemas.ts';

/** Answers that compare groups of texts, and texts of different times. */

const interval = z.tuple([z.number(), z.number()]).readonly();
const link = z.tuple([symbol, symbol]).readonly();
const share = z.object({
  count: z.int().describe('Texts whose walk has it.'),
  texts: z.int(),
  share: probability,
  interval: interval.describe('Wilson, 95 %.'),
});
const compared = {
  own: share.describe('In the first group.'),
  others: share.describe('In the second.'),
  difference: z.number(),
  differenceInterval: interval.describe('Newcombe, 95 %.'),
  effect: z.number().describe('Cohen’s h.'),
  p: probability,
  corrected: probability.describe('After Benjamini and Hochberg over all tests of its table.'),
};

export const compareSchema = z.object({
  step,
  groups: z.array(z.object({ group: z.string(), texts: z.int() })),
  both: z.int().describe('Texts that are in both groups, and so compared in neither.'),
  interval: z.string(),
  test: z.string(),
  correction: z.string(),
  tests: z.object({ symbols: z.int(), links: z.int() }).describe('All that were made.'),
  sure: z.object({ symbols: z.int(), links: z.int() }).describe('With a corrected p below 0.05.'),
  symbols: z
    .array(z.object({ symbol, ...compared }))
    .describe('By size of effect, largest first; up to 200.'),
  links: z.array(z.object({ link, ...compared })).describe('The same.'),
});

const overTime = {
  all: share,
  shares: z.array(share).describe('One for each period.'),
  bursts: z.array(
    z.object({
      label: z.string(),
      from: z.int(),
      to: z.int().describe('The last period of it.'),
      weight: z.number().describe('In nats.'),
      inside: share,
      outside: share,
    }),
  ),
  corrected: probability.describe('χ² test that the share is the same at all times, corrected.'),
};

export const timeSchema = z.object({
  step,
  column: z.string(),
  period: z.string().describe('How long one is: year, decade, …'),
  lengths: z.array(z.string()).describe('What ?period= takes.'),
  periods: z.array(z.object({ label: z.string(), start: z.number(), end: z.number(), texts: z.int() })),
  undated: z.int().describe('Texts without a date.'),
  interval: z.string(),
  test: z.string(),
  burst: z.string(),
  symbols: z.array(z.object({ symbol, ...overTime })),
  links: z.array(z.object({ link, ...overTime })).describe('The 200 most taken.'),
});
