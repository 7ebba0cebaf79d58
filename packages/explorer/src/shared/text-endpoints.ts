import { z } from 'zod';
import { asks, count, links, name, page, probability, sends, split, step, symbol, text } from './inputs.ts';

/** What is asked of texts: their map, their walks, what is written from walks, groups of texts, and times. */

const walk = z.array(z.int().min(0).max(1_000_000)).min(1).max(200);
const exampleText = { text: 'a sentence of the corpus' };

/** How tokens are drawn. */
const sampling = {
  count: z.int().min(1).max(20).default(1).describe('Sentences to write.'),
  temperature: z.number().min(0).max(10).default(0).describe('0 takes the best token each time.'),
  topK: z.int().min(1).max(100_000).optional().describe('Only the k best tokens.'),
  topP: z
    .number()
    .gt(0)
    .max(1)
    .optional()
    .describe('Only the best tokens that together have this probability.'),
  repetitionPenalty: z.number().min(1).max(10).optional(),
  seed: z
    .int()
    .min(0)
    .max(2 ** 31)
    .default(1)
    .describe('The same seed writes the same sentences.'),
  maxTokens: z.int().min(1).max(500).default(60),
};

const walkStep = z.object({
  symbol,
  name,
  probability: probability.describe('That the walk is on this symbol at this step, whatever came before.'),
  token: z.string().nullable().describe('The token this step reads, where steps and tokens go together.'),
  link: probability.nullable().describe('Probability of the link from the step before.'),
  alternatives: z.array(z.object({ symbol, name, probability })),
});

const encodedSentence = z.object({
  index: z.int(),
  split,
  text: z.string(),
  label: z.string().nullable(),
  walk: z.array(symbol),
  probabilities: z.array(probability).describe('q(z₁|x), then q(zᵢ|zᵢ₋₁, x).'),
  weights: z.array(z.number()).optional().describe('How much of the text each step tells, where known.'),
});

const numbers = (of: string) =>
  z.string().describe(`${of}, one after the other; base64 of their bytes, the lowest byte first.`);
const bits = 'One bit for each text of the map, the lowest of the first byte first; base64.';

const labelMap = z.object({
  label: z.string(),
  sentences: z.int(),
  nodes: z.array(probability).describe('Share of walk steps on each symbol.'),
  links: links.describe('i, j and the share of traversals, largest first.'),
  typical: z
    .array(z.object({ symbol, share: probability, lift: z.number(), weight: z.number() }))
    .describe('Symbols that speak most for the label; weight is their part of KL(label‖all), bits.'),
});

const group = z.strictObject({
  name: z.string().min(1).max(300),
  texts: z.string().max(400_000).describe(bits),
});
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

export const textEndpoints = {
  reading: sends(
    'The walk of a sentence on the graph, with the symbols that could stand at each step',
    { text },
    {
      step: z.int(),
      tokens: z.array(z.object({ text: z.string(), known: z.boolean() })),
      unknown: z.array(z.string()).describe('Tokens that the run does not know.'),
      problem: z.string().nullable().describe('Why there is no walk, if there is none.'),
      cut: z.boolean().describe('The text is longer than the encoder reads; its end was left out.'),
      walk: z
        .object({
          steps: z.array(walkStep),
          logProbability: z.number().nullable().describe('log q of the walk; null where it is -∞.'),
        })
        .nullable(),
    },
    exampleText,
  ),
  generate: sends(
    'Sentences about a walk',
    {
      walk,
      ...sampling,
      force: z.boolean().default(false).describe('Write although a step of the walk has no link.'),
    },
    {
      step,
      samples: z.array(z.object({ text: z.string() })),
      links: z
        .array(probability)
        .describe('Probability of the link to each symbol of the walk from the one before.'),
    },
    { walk: [3, 1, 4], count: 3, temperature: 0.8, topP: 0.9 },
  ),
  attention: sends(
    'Which words of a sentence attend to which symbols of its walk',
    {
      text,
      layer: z.int().min(0).max(1000).optional().describe('From 0; the mean of all layers unless said.'),
      head: z.int().min(0).max(1000).optional().describe('From 0; the mean of all heads unless said.'),
    },
    {
      step,
      tokens: z.array(z.string()).describe('Pieces of the text, as the decoder writes it.'),
      walk: z.array(symbol),
      layers: z.int(),
      heads: z.int(),
      weights: z
        .array(z.array(z.number()))
        .describe('For each token its attention onto each step of the walk.'),
    },
    exampleText,
  ),
  nearest: sends(
    'Sentences of the corpus whose walks are nearest to a walk',
    { walk, limit: z.int().min(1).max(100).default(10) },
    {
      step,
      encoded: z.int().describe('Sentences that were searched.'),
      sentences: z.array(
        encodedSentence.extend({
          shared: z.int().describe('Steps with the same symbol at the same place.'),
          common: z.int().describe('Symbols that both walks have, wherever.'),
        }),
      ),
    },
    { walk: [3, 1, 4], limit: 5 },
  ),
  labels: asks('Distribution over symbols and links for each label', {
    step,
    encoded: z.int(),
    maps: z.array(labelMap),
    divergence: z.array(z.array(z.number())).describe('Jensen–Shannon divergence of symbols, bits.'),
    linkDivergence: z.array(z.array(z.number())).describe('The same of traversed links.'),
  }),
  encoded: asks(
    'Sentences with their walks, page by page; all, or those of a symbol or a label',
    {
      step,
      offset: z.int(),
      total: z.int().describe('Sentences that match.'),
      encoded: z.int().describe('Sentences that were read; `hsn encode` reads the rest.'),
      corpus: z.int().describe('Sentences there are.'),
      sentences: z.array(encodedSentence),
    },
    { ...page, symbol: count().max(1_000_000).optional(), label: z.string().max(1000).optional() },
  ),
  map: asks('The map of texts: the place, walk and label of each', {
    step,
    count: z.int().describe('Texts on the map, N.'),
    corpus: z.int().describe('Texts there are; `hsn encode` reads the rest.'),
    symbols: z.int(),
    length: z.int().describe('Steps of a walk, L.'),
    labels: z.array(z.string()),
    places: numbers('x and y of each text as 16-bit whole numbers, 0 to 65535'),
    walks: numbers('The L symbols of each text as 16-bit whole numbers'),
    times: numbers('When each text is from, as 64-bit numbers: UTC milliseconds, NaN for unknown')
      .nullable()
      .describe('Null where the run was not told of a column with dates.'),
    labelOf: numbers('The number of each text’s label as a signed 16-bit whole number, −1 for none'),
  }),
  texts: sends(
    'Texts of the map with their walks, by their numbers',
    { at: z.array(z.int().min(0).max(1_000_000_000)).min(1).max(200) },
    { step, texts: z.array(encodedSentence) },
    { at: [0, 1, 2] },
  ),
  explain: sends(
    'Which words of a text carry which symbol of its walk, by leaving each word out',
    { text: z.string().trim().min(1).max(20_000) },
    {
      step,
      walk: z.array(symbol),
      words: z
        .array(
          z.object({
            start: z.int().describe('Its place in the text, in UTF-16 units.'),
            end: z.int(),
            symbol: symbol.describe('The symbol that it carries.'),
            weight: probability.describe('1 for the word that matters most to the symbol.'),
          }),
        )
        .describe('Words that carry a symbol.'),
    },
    exampleText,
  ),
  matches: asks(
    'Which texts of the map have all of some words, or words that begin so',
    { step, total: z.int().describe('Texts that have all the words.'), texts: z.string().describe(bits) },
    { words: z.string().trim().min(1).max(300) },
  ),
  compare: sends(
    'Which symbols and links one group of texts has more of than another, or than all other texts',
    { first: group, second: group.optional().describe('All texts that are not in the first unless said.') },
    {
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
    },
    { first: { name: 'the first two', texts: 'Aw==' } },
  ),
  time: asks(
    'Shares of symbols and links over time, with intervals and bursts',
    {
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
    },
    {
      period: z
        .string()
        .max(30)
        .optional()
        .describe('day, week, month, year, decade, …; by how much there is unless said.'),
    },
  ),
};
