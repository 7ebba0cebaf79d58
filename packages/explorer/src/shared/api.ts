import { z } from 'zod';

/** Everything the page and the server say to each other; the OpenAPI document is made from it. */

const symbol = z.int().nonnegative();
const probability = z.number().min(0).max(1);
const name = z.string().nullable().describe('The name that a person gave the symbol, if any.');

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
  symbols: z.int(),
  corpus: z.object({
    directory: z.string(),
    fingerprint: z.string(),
    vocabulary: z.int(),
    length: z.int().describe('Tokens of a sentence.'),
    sentences: z.object({ train: z.int(), valid: z.int(), test: z.int() }),
  }),
  notes: z.array(z.string()),
  features: z.array(z.string()).describe('What this run can show beside its graph: encode, truth, …'),
});
export type Opened = z.infer<typeof openedSchema>;

export const runSchema = z.object({
  name: z.string(),
  model: z.string().describe('The kind of model, as in the configuration.'),
  state: z.enum(['running', 'finished', 'stopped', 'crashed']),
  created: z.string(),
  version: z.string(),
  seconds: z.number().nullable().describe('Time in training, once it ended.'),
  lastStep: z.int().nullable().describe('The last step that metrics were written for.'),
  steps: z.int().describe('Steps that training was asked for.'),
  config: z.record(z.string(), z.unknown()),
  opened: openedSchema.nullable().describe('Null while the model is being opened, or cannot be.'),
  problem: z.string().nullable().describe('Why the model cannot be opened, if it cannot.'),
});

const node = z.object({
  symbol,
  name,
  tokens: z.array(z.string()).describe('Its most probable tokens.'),
  usage: probability.describe('Share of walk steps spent on it.'),
  community: z.int().nonnegative(),
});

export const graphSchema = z.object({
  step: z.int(),
  nodes: z.array(node),
  links: z
    .array(z.tuple([symbol, symbol, probability]))
    .describe('i, j and the probability of the link, most probable first.'),
  linksLeftOut: z.int().describe('Further links above leastProbability, left out to keep this short.'),
  leastProbability: probability,
  truth: z
    .array(z.tuple([symbol, symbol]))
    .nullable()
    .describe('Links of the true graph, where known.'),
  layout: z.array(z.number()).describe('x and y of each node in turn, within the unit square.'),
});

const neighbour = z.object({ symbol, name, probability, tokens: z.array(z.string()) });

const example = z.object({
  split: z.enum(splits),
  index: z.int().nonnegative(),
  tokens: z.array(z.string()),
  walk: z.array(symbol).describe('The symbols read in it.'),
  positions: z.array(z.int()).describe('Steps, from 0, at which the walk is on the symbol.'),
});

export const symbolSchema = z.object({
  symbol,
  name,
  step: z.int(),
  tokens: z.array(z.object({ token: z.string(), probability })),
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
  probability,
  token: z.string().nullable().describe('The token this step reads, where steps and tokens go together.'),
  link: probability.nullable().describe('Probability of the link from the step before.'),
  alternatives: z.array(z.object({ symbol, name, probability })),
});

export const encodeSchema = z.object({
  step: z.int(),
  tokens: z.array(z.object({ text: z.string(), known: z.boolean() })),
  unknown: z.array(z.string()).describe('Tokens that the run does not know.'),
  problem: z.string().nullable().describe('Why there is no walk, if there is none.'),
  walk: z
    .object({
      steps: z.array(walkStep),
      logProbability: z.number().nullable().describe('log q of the walk; null where it is -∞.'),
    })
    .nullable(),
});

export const sentencesSchema = z.object({
  split: z.enum(splits),
  offset: z.int(),
  total: z.int(),
  sentences: z.array(
    z.object({
      index: z.int(),
      tokens: z.array(z.string()),
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
  state: runSchema.shape.state,
});

export const evaluationSchema = z.record(z.string(), z.number().nullable());

export const nameSchema = z.object({ symbol, name });

/** Letters that turn or hide text, and controls, have no place in a name. */
const invisible = /[\p{Cc}\p{Cs}\p{Co}\p{Bidi_Control}\u2028\u2029]/u;
const nameText = z
  .string()
  .trim()
  .max(80)
  .refine((text) => !invisible.test(text), 'no control characters');

const page = { offset: z.coerce.number().int().min(0).default(0) };
const params = z.strictObject({ k: z.coerce.number().int().min(0).max(1_000_000) });

export interface Endpoint {
  method: 'get' | 'post';
  path: string;
  summary: string;
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: z.ZodObject;
  response: z.ZodType;
  example?: unknown;
}

export const endpoints = {
  run: { method: 'get', path: '/api/run', summary: 'Settings and state of the run', response: runSchema },
  graph: {
    method: 'get',
    path: '/api/graph',
    summary: 'The inferred graph with its layout',
    response: graphSchema,
  },
  symbol: {
    method: 'get',
    path: '/api/symbol/:k',
    summary: 'One symbol: tokens, neighbours, usage, sentences',
    params,
    response: symbolSchema,
  },
  rename: {
    method: 'post',
    path: '/api/symbol/:k/name',
    summary: 'Name a symbol; an empty name takes it away. Stored in the run',
    params,
    body: z.strictObject({ name: nameText }),
    response: nameSchema,
    example: { name: 'colours' },
  },
  encode: {
    method: 'post',
    path: '/api/encode',
    summary: 'The walk of a sentence on the graph',
    body: z.strictObject({ text: z.string().max(20_000) }),
    response: encodeSchema,
    example: { text: 'a sentence of the corpus' },
  },
  sentences: {
    method: 'get',
    path: '/api/sentences',
    summary: 'Sentences of the corpus, page by page',
    query: z.strictObject({
      ...page,
      limit: z.coerce.number().int().min(1).max(200).default(20),
      split: z.enum(splits).default('test'),
    }),
    response: sentencesSchema,
  },
  metrics: {
    method: 'get',
    path: '/api/metrics',
    summary: 'Metrics of training after a step, or from a row on; ask again for what is new',
    query: z.strictObject({
      after: z.coerce.number().int().min(-1).default(-1).describe('Only rows of later steps.'),
      from: z.coerce.number().int().min(0).default(0).describe('Only rows from this number on.'),
    }),
    response: metricsSchema,
  },
  evaluation: {
    method: 'get',
    path: '/api/evaluation',
    summary: 'The figures of the finished run',
    response: evaluationSchema,
  },
} as const satisfies Record<string, Endpoint>;

export type EndpointName = keyof typeof endpoints;
export type Answer<N extends EndpointName> = z.infer<(typeof endpoints)[N]['response']>;
type InputOf<N extends EndpointName, Part extends string> = (typeof endpoints)[N] extends {
  [P in Part]: infer S extends z.ZodType;
}
  ? z.infer<S>
  : unknown;
/** What a handler is given: path, query and body together. */
export type Input<N extends EndpointName> = InputOf<N, 'params'> & InputOf<N, 'query'> & InputOf<N, 'body'>;
