import { z } from 'zod';
import { probability, sends, step, symbol, text } from './inputs.ts';

/** What leads from one to another: between sentences, and from an event to what may follow. */

const end = z.object({ text: z.string(), walk: z.array(symbol) });
const variants = z.enum(['window', 'nodes']);

const candidate = z.object({
  object: z.string(),
  walk: z.array(symbol).describe('First half from the event and the relation, second from the path model.'),
  score: z.number().describe('log p of second halves and the object, summed over the walks that led to it.'),
  walkLogProb: z.number(),
  objectLogProb: z.number(),
  walks: z.int().describe('Walks that led to this object.'),
  words: z
    .array(z.array(z.string()))
    .nullable()
    .describe('Words that tell most of each step; null where training walks were not counted.'),
  like: z
    .array(
      z.object({
        event: z.string(),
        object: z.string(),
        same: z.int().describe('Steps with the same symbol.'),
      }),
    )
    .describe('Training tuples of the relation that walk most like it.'),
  parts: z
    .record(z.string(), z.number())
    .optional()
    .describe(
      'Where the run has a mixture: nats by which each part sets the object above the mean of those weighed.',
    ),
  events: z
    .array(
      z.object({
        event: z.string(),
        object: z.string(),
        share: probability.describe('Share of the weight of all near events.'),
        same: z.int().describe('Steps of the first half in common.'),
      }),
    )
    .optional()
    .describe('Where the run has a mixture: near training events that have the object.'),
});

export const walkEndpoints = {
  interpolate: sends(
    'The steps between two sentences, each with its text',
    {
      from: text,
      to: text,
      variant: variants
        .default('window')
        .describe('The paper’s sliding window, or the authors’ way node by node.'),
    },
    {
      step,
      variant: variants,
      from: end,
      to: end,
      path: z
        .array(symbol)
        .nullable()
        .describe('From the end of the first walk to the beginning of the second; none node by node.'),
      steps: z.array(end.extend({ onGraph: z.boolean().describe('All its links are there.') })),
      unreachable: z.string().nullable().describe('Why there is no path, if there is none.'),
    },
    { from: 'one sentence', to: 'another sentence' },
  ),
  reason: sends(
    'What may follow an event by some relations, with the paths that lead there',
    {
      event: z.string().max(2000),
      relations: z.array(z.string().max(200)).max(50).default([]).describe('All of the run unless said.'),
      count: z.int().min(1).max(20).default(5).describe('Different objects of each relation, at most.'),
      along: z
        .array(z.int().min(0))
        .max(200)
        .default([])
        .describe('Symbols that every walk begins with; each a link of the graph from the one before it.'),
    },
    {
      step,
      event: z.string(),
      path: z.string().describe('The kind of path model, such as counts or counts+lstm.'),
      results: z.array(
        z.object({ relation: z.string(), meaning: z.string(), candidates: z.array(candidate) }),
      ),
    },
    { event: 'PersonX goes home', relations: ['xWant'] },
  ),
};
