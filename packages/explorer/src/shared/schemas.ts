import { z } from 'zod';

/** What the server answers; requests are in `api.ts`. */

export const symbol = z.int().nonnegative();
export const probability = z.number().min(0).max(1);
export const name = z.string().nullable().describe('The name that a person gave the symbol, if any.');
export const step = z.int().describe('The checkpoint that this comes from.');

export const identity = z.string().describe('Of what is shown: another one after every edit of symbols.');

export const splits = ['train', 'valid', 'test'] as const;

export const faultSchema = z.object({
  error: z.object({
    code: z.string().describe('For programs: not_found, bad_request, not_yet, busy, …'),
    message: z.string().describe('For people: what was expected, what came, what to do.'),
  }),
});

/** What is known once the model is open. */
const openedSchema = z.object({
  step: z.int().describe('The checkpoint that is shown.'),
  identity,
  edits: z.array(z.string()).describe('Edits of symbols that can be undone, the oldest first.'),
  symbols: z.int(),
  corpus: z.object({
    directory: z.string(),
    fingerprint: z.string(),
    vocabulary: z.int(),
    length: z.int().nullable().describe('Tokens of a sentence, where all have the same number.'),
    sentences: z.object({ train: z.int(), valid: z.int(), test: z.int() }),
  }),
  walk: z.int().describe('Steps of a walk.'),
  labels: z.array(z.string()),
  relations: z
    .array(z.object({ name: z.string(), meaning: z.string() }))
    .describe('Relations that can be reasoned by, with what they mean.'),
  notes: z.array(z.string()),
  features: z
    .array(z.string())
    .describe('What this run can show beside its graph: encode, write, labels, truth, …'),
});
export type Opened = z.infer<typeof openedSchema>;

const states = ['running', 'discovered', 'finished', 'stopped', 'crashed'] as const;
const state = z.enum(states);
const figures = z.record(z.string(), z.number().nullable());

const summary = {
  id: z.string().describe('What ?run= takes.'),
  name: z.string(),
  model: z.string().describe('The kind of model, as in the configuration.'),
  state,
  created: z.string(),
  lastStep: z.int().nullable().describe('The last step that metrics were written for.'),
  steps: z.int().describe('Steps that training was asked for.'),
};
const runFault = z
  .string()
  .nullable()
  .describe('What is wrong with the files of the run, if anything is; a damaged run may lack all else.');

export const runSchema = z.object({
  ...summary,
  version: z.string(),
  seconds: z.number().nullable().describe('Time in training, once it ended.'),
  config: z.record(z.string(), z.unknown()),
  identity: z.string().describe('Of the run on disk; `opened` follows it.'),
  opened: openedSchema.nullable().describe('Null while the model is being opened, or cannot be.'),
  doing: z.string().nullable().describe('What the model is busy with, where that takes long.'),
  problem: z.string().nullable().describe('Why the model cannot be opened, if it cannot.'),
  fault: runFault,
});

export const runsSchema = z.object({
  runs: z.array(
    z.object({
      ...summary,
      state: z.enum([...states, 'damaged']),
      model: summary.model.nullable(),
      created: summary.created.nullable(),
      steps: summary.steps.nullable(),
      fault: runFault,
      problem: z.string().nullable().describe('Why its model could not be opened, if that was tried.'),
      seconds: z.number().nullable(),
      figures: figures.describe('Of its evaluation; empty before there is one.'),
      settings: z
        .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
        .describe('Settings by their path, such as graph.prior.'),
    }),
  ),
});

const node = z.object({
  symbol,
  name,
  tokens: z.array(z.string()).describe('Tokens that it emits most, or words that speak most for it.'),
  usage: probability.describe('Share of walk steps spent on it.'),
  community: z.int().nonnegative(),
});

export const links = z.array(z.tuple([symbol, symbol, probability]));

export const graphSchema = z.object({
  step: z.int(),
  identity,
  nodes: z.array(node),
  links: links.describe('i, j and the probability of the link, most probable first.'),
  strengths: z
    .array(z.tuple([symbol, symbol, z.int(), z.number(), z.number()]))
    .describe(
      'i, j, walks that go between the two, that number over what chance would give, and the lower end of its 95 % interval: links that are taken more often than by chance, the strongest first.',
    ),
  linksLeftOut: z.int().describe('Further links above leastProbability, left out to keep this short.'),
  leastProbability: probability,
  truth: z
    .array(z.tuple([symbol, symbol]))
    .nullable()
    .describe('Links of the true graph, where known.'),
  layout: z.array(z.number()).describe('x and y of each node in turn, within the unit square.'),
});

const neighbour = z.object({
  symbol,
  name,
  probability,
  tokens: z.array(z.string()),
  traversals: probability
    .nullable()
    .describe('Share of all moves of walks that go between the two, where counted.'),
});

const example = z.object({
  split: z.enum(splits),
  index: z.int().nonnegative(),
  text: z.string(),
  tokens: z.array(z.string()).nullable().describe('Where steps and tokens go together.'),
  label: z.string().nullable(),
  walk: z.array(symbol).describe('The symbols read in it.'),
  positions: z.array(z.int()).describe('Steps, from 0, at which the walk is on the symbol.'),
});

export const symbolSchema = z.object({
  symbol,
  name,
  step: z.int(),
  identity,
  tokens: z
    .array(z.object({ token: z.string(), probability }))
    .describe('What it emits, where it emits tokens.'),
  words: z
    .array(z.object({ word: z.string(), pmi: z.number(), count: z.int() }))
    .describe('Words that speak for it: pointwise mutual information in bits, and sentences with both.'),
  attended: z
    .array(z.object({ word: z.string(), share: probability, count: z.int() }))
    .describe('Words that attend to it most, where attention was read.'),
  labels: z
    .array(z.object({ label: z.string(), share: probability, lift: z.number() }))
    .describe('Of the sentences that pass here; lift is the ratio to the share in all sentences.'),
  usage: probability,
  usageByPosition: z.array(probability),
  community: z.int().nonnegative(),
  neighbours: z.array(neighbour),
  examples: z.array(example),
  sample: z.int().describe('Sentences that were read to find usage and examples.'),
});

const walkStep = z.object({
  symbol,
  name,
  probability: probability.describe('That the walk is on this symbol at this step, whatever came before.'),
  token: z.string().nullable().describe('The token this step reads, where steps and tokens go together.'),
  link: probability.nullable().describe('Probability of the link from the step before.'),
  alternatives: z.array(z.object({ symbol, name, probability })),
});

const sentenceWalk = z.object({
  steps: z.array(walkStep),
  logProbability: z.number().nullable().describe('log q of the walk; null where it is -∞.'),
});

export const encodeSchema = z.object({
  step: z.int(),
  tokens: z.array(z.object({ text: z.string(), known: z.boolean() })),
  unknown: z.array(z.string()).describe('Tokens that the run does not know.'),
  problem: z.string().nullable().describe('Why there is no walk, if there is none.'),
  cut: z.boolean().describe('The text is longer than the encoder reads; its end was left out.'),
  walk: sentenceWalk.nullable(),
});

export const sentencesSchema = z.object({
  split: z.enum(splits),
  offset: z.int(),
  total: z.int(),
  sentences: z.array(
    z.object({
      index: z.int(),
      text: z.string(),
      label: z.string().nullable(),
      walk: z.array(symbol).nullable().describe('The true walk, where known.'),
    }),
  ),
});

export const metricsSchema = z.object({
  rows: z.array(z.record(z.string(), z.number().nullable())),
  from: z.int().describe('The number of the first row sent.'),
  total: z
    .int()
    .describe('Rows there are now; fewer than before when a run was resumed from an earlier step.'),
  state,
});

export const curvesSchema = z.object({
  total: z.int().describe('Rows of metrics there are now.'),
  state,
  curves: z
    .array(
      z.object({
        name: z.string(),
        axis: z.enum(['step', 'sweep']),
        x: z.array(z.number()),
        y: z.array(z.number()),
      }),
    )
    .nullable()
    .describe(
      'Each quantity that was logged; of a long one the lowest and highest point of each of up to 2000 spans, and the last. Null where `known` says that nothing is new.',
    ),
});

export const evaluationSchema = figures;

export const generateSchema = z.object({
  step,
  samples: z.array(z.object({ text: z.string() })),
  links: z
    .array(probability)
    .describe('Probability of the link to each symbol of the walk from the one before.'),
});

export const samplesSchema = z.object({
  step,
  samples: z.array(
    z.object({
      text: z.string(),
      walk: z.array(symbol),
      written: z.string().describe('From its walk alone.'),
    }),
  ),
});
