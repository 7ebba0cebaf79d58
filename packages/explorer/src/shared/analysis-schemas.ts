import { z } from 'zod';
import { links, probability, splits, step, symbol } from './schemas.ts';

/** Answers of the analyses: encoded sentences, attention, ways between sentences, labels, reasoning. */

export const encodedSentence = z.object({
  index: z.int(),
  split: z.enum(splits),
  text: z.string(),
  label: z.string().nullable(),
  walk: z.array(symbol),
  probabilities: z.array(probability).describe('q(z₁|x), then q(zᵢ|zᵢ₋₁, x).'),
  weights: z.array(z.number()).optional().describe('How much of the text each step tells, where known.'),
});

export const encodedSchema = z.object({
  step,
  offset: z.int(),
  total: z.int().describe('Sentences that match.'),
  encoded: z.int().describe('Sentences that were read; `hsn encode` reads the rest.'),
  corpus: z.int().describe('Sentences there are.'),
  sentences: z.array(encodedSentence),
});

export const nearestSchema = z.object({
  step,
  encoded: z.int().describe('Sentences that were searched.'),
  sentences: z.array(
    encodedSentence.extend({
      shared: z.int().describe('Steps with the same symbol at the same place.'),
      common: z.int().describe('Symbols that both walks have, wherever.'),
    }),
  ),
});

export const attentionSchema = z.object({
  step,
  tokens: z.array(z.string()).describe('Pieces of the text, as the decoder writes it.'),
  walk: z.array(symbol),
  layers: z.int(),
  heads: z.int(),
  weights: z.array(z.array(z.number())).describe('For each token its attention onto each step of the walk.'),
});

export const interpolationSchema = z.object({
  step,
  variant: z.enum(['window', 'nodes']),
  from: z.object({ text: z.string(), walk: z.array(symbol) }),
  to: z.object({ text: z.string(), walk: z.array(symbol) }),
  path: z
    .array(symbol)
    .nullable()
    .describe('From the end of the first walk to the beginning of the second; none node by node.'),
  steps: z.array(
    z.object({
      walk: z.array(symbol),
      text: z.string(),
      onGraph: z.boolean().describe('All its links are there.'),
    }),
  ),
  unreachable: z.string().nullable().describe('Why there is no path, if there is none.'),
});

const labelMap = z.object({
  label: z.string(),
  sentences: z.int(),
  nodes: z.array(probability).describe('Share of walk steps on each symbol.'),
  links: links.describe('i, j and the share of traversals, largest first.'),
  typical: z
    .array(z.object({ symbol, share: probability, lift: z.number(), weight: z.number() }))
    .describe('Symbols that speak most for the label; weight is their part of KL(label‖all), bits.'),
});

export const labelsSchema = z.object({
  step,
  encoded: z.int(),
  maps: z.array(labelMap),
  divergence: z.array(z.array(z.number())).describe('Jensen–Shannon divergence of symbols, bits.'),
  linkDivergence: z.array(z.array(z.number())).describe('The same of traversed links.'),
});

export const reasonSchema = z.object({
  step,
  event: z.string(),
  path: z.string().describe('The kind of path model, such as counts or counts+lstm.'),
  results: z.array(
    z.object({
      relation: z.string(),
      meaning: z.string(),
      candidates: z.array(
        z.object({
          object: z.string(),
          walk: z
            .array(symbol)
            .describe('First half from the event and the relation, second from the path model.'),
          score: z
            .number()
            .describe('log p of second halves and the object, summed over the walks that led to it.'),
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
        }),
      ),
    }),
  ),
});
