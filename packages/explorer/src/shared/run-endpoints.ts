import { z } from 'zod';
import {
  asks,
  count,
  identity,
  links,
  name,
  ofSymbol,
  page,
  probability,
  seen,
  seenExample,
  sends,
  split,
  step,
  symbol,
} from './inputs.ts';

/** What is asked of runs, of their training, and of their symbols. */

/** What is known once the model is open. */
const opened = z.object({
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
export type Opened = z.infer<typeof opened>;

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
  fault: z
    .string()
    .nullable()
    .describe('What is wrong with the files of the run, if anything is; a damaged run may lack all else.'),
};

const listed = z.object({
  ...summary,
  state: z.enum([...states, 'damaged']),
  model: summary.model.nullable(),
  created: summary.created.nullable(),
  steps: summary.steps.nullable(),
  problem: z.string().nullable().describe('Why its model could not be opened, if that was tried.'),
  seconds: z.number().nullable(),
  figures: figures.describe('Of its evaluation; empty before there is one.'),
  settings: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
    .describe('Settings by their path, such as graph.prior.'),
});

const node = z.object({
  symbol,
  name,
  tokens: z.array(z.string()).describe('Tokens that it emits most, or words that speak most for it.'),
  usage: probability.describe('Share of walk steps spent on it.'),
  community: z.int().nonnegative(),
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
  split,
  index: z.int().nonnegative(),
  text: z.string(),
  tokens: z.array(z.string()).nullable().describe('Where steps and tokens go together.'),
  label: z.string().nullable(),
  walk: z.array(symbol).describe('The symbols read in it.'),
  positions: z.array(z.int()).describe('Steps, from 0, at which the walk is on the symbol.'),
});

const curve = z.object({
  name: z.string(),
  axis: z.enum(['step', 'sweep']),
  x: z.array(z.number()),
  y: z.array(z.number()),
});

/** Letters that turn or hide text, and controls, have no place in a name. */
const invisible = /[\p{Cc}\p{Cs}\p{Co}\p{Bidi_Control}\u2028\u2029]/u;
const nameText = z
  .string()
  .trim()
  .max(80)
  .refine((text) => !invisible.test(text), 'no control characters');

const group = z.object({
  group: z.int().nonnegative().describe('Its number at its level.'),
  symbols: z.array(symbol),
  name: z.string(),
  words: z.array(z.string()),
  share: z.number().describe('Share of texts that begin with one of its symbols.'),
});

/** What an edit answers. */
const edited = {
  what: z.string().describe('What was done, in a line.'),
  identity: z.string().describe('Of the run as it is now: another one after every edit.'),
  symbols: z.int().describe('K now.'),
  edits: z.array(z.string()).describe('What can be undone, the oldest first.'),
  changed: z.array(symbol).describe('Symbols, by their numbers now, that were made or changed.'),
  renumbered: z
    .array(z.tuple([symbol, symbol]))
    .describe('Symbols that have another number now, though nothing else changed: before, now.'),
};

export const runEndpoints = {
  runs: { summary: 'All runs that are served', response: z.object({ runs: z.array(listed) }) },
  run: asks('Settings and state of a run', {
    ...summary,
    version: z.string(),
    seconds: z.number().nullable().describe('Time in training, once it ended.'),
    config: z.record(z.string(), z.unknown()),
    identity: z.string().describe('Of the run on disk; `opened` follows it.'),
    opened: opened.nullable().describe('Null while the model is being opened, or cannot be.'),
    doing: z.string().nullable().describe('What the model is busy with, where that takes long.'),
    problem: z.string().nullable().describe('Why the model cannot be opened, if it cannot.'),
  }),
  graph: asks('The inferred graph with its layout', {
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
  }),
  symbol: {
    ...ofSymbol,
    ...asks('One symbol: tokens, words, neighbours, labels, usage, sentences', {
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
    }),
  },
  rename: {
    ...ofSymbol,
    ...sends(
      'Name a symbol; an empty name takes it away. Stored in the run',
      { ...seen, name: nameText },
      { symbol, name, before: name.describe('What a person had named it before, if anyone had.') },
      { ...seenExample, name: 'colours' },
    ),
  },
  levels: asks(
    'Symbols merged into fewer groups, each level within the one before; nothing is changed',
    {
      step,
      identity,
      symbols: z.int().describe('K.'),
      levels: z.array(z.object({ count: z.int(), groups: z.array(group).describe('The largest first.') })),
    },
    {
      counts: z
        .string()
        .regex(/^\d{1,7}(,\d{1,7}){0,11}$/, 'numbers of groups with commas between, at most 12')
        .transform((text) => text.split(',').map(Number))
        .describe('How many groups each level has: 5,10,20.'),
    },
  ),
  merge: sends(
    'Make one symbol of several; stored in the run, and undone by /api/undo',
    { ...seen, symbols: z.array(z.int().min(0).max(1_000_000)).min(2).max(200) },
    edited,
    { ...seenExample, symbols: [3, 17] },
  ),
  split: {
    ...ofSymbol,
    ...sends(
      'Make two symbols of one; stored in the run, and undone by /api/undo',
      seen,
      edited,
      seenExample,
    ),
  },
  undo: sends('Take the last merging or splitting of symbols back', seen, edited, seenExample),
  metrics: asks(
    'Metrics of training after a step, or from a row on; ask again for what is new',
    {
      rows: z.array(figures),
      from: z.int().describe('The number of the first row sent.'),
      total: z
        .int()
        .describe('Rows there are now; fewer than before when a run was resumed from an earlier step.'),
      state,
    },
    {
      after: z.coerce.number().int().min(-1).default(-1).describe('Only rows of later steps.'),
      from: count().default(0).describe('Only rows from this number on.'),
    },
  ),
  curves: asks(
    'Metrics of training as curves of bounded length; ask again for what is new',
    {
      total: z.int().describe('Rows of metrics there are now.'),
      state,
      curves: z
        .array(curve)
        .nullable()
        .describe(
          'Each quantity that was logged; of a long one the lowest and highest point of each of up to 2000 spans, and the last. Null where `known` says that nothing is new.',
        ),
    },
    { known: count().optional().describe('The total that the client has the curves of.') },
  ),
  evaluation: { ...asks('The figures of the finished run', {}), response: figures },
  samples: asks(
    'Validation sentences, their walks, and what the checkpoint writes from these',
    {
      step,
      samples: z.array(
        z.object({
          text: z.string(),
          walk: z.array(symbol),
          written: z.string().describe('From its walk alone.'),
        }),
      ),
    },
    { limit: count().min(1).max(20).default(5) },
  ),
  sentences: asks(
    'Sentences of the corpus, page by page',
    {
      split,
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
    },
    { ...page, split: split.default('test') },
  ),
};
