import { z } from 'zod';
import {
  attentionSchema,
  encodedSchema,
  interpolationSchema,
  labelsSchema,
  nearestSchema,
  reasonSchema,
} from './analysis-schemas.ts';
import { nameSchema } from './edit-schemas.ts';
import { type Endpoint, ofRun, one, params, seen } from './inputs.ts';
import {
  curvesSchema,
  encodeSchema,
  evaluationSchema,
  generateSchema,
  graphSchema,
  metricsSchema,
  runSchema,
  runsSchema,
  samplesSchema,
  sentencesSchema,
  splits,
  symbolSchema,
} from './schemas.ts';
import { textEndpoints } from './text-endpoints.ts';

/** Everything the page and the server say to each other; the OpenAPI document is made from it. */

export type { Endpoint } from './inputs.ts';
export type { Opened } from './schemas.ts';

/** Letters that turn or hide text, and controls, have no place in a name. */
const invisible = /[\p{Cc}\p{Cs}\p{Co}\p{Bidi_Control}\u2028\u2029]/u;
const nameText = z
  .string()
  .trim()
  .max(80)
  .refine((text) => !invisible.test(text), 'no control characters');

const page = {
  offset: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(200).default(20),
};
const text = z.string().max(20_000);
const walk = z.array(z.int().min(0).max(1_000_000)).min(1).max(200);

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

export const endpoints = {
  runs: { method: 'get', path: '/api/runs', summary: 'All runs that are served', response: runsSchema },
  run: {
    method: 'get',
    path: '/api/run',
    summary: 'Settings and state of a run',
    query: one,
    response: runSchema,
  },
  graph: {
    method: 'get',
    path: '/api/graph',
    summary: 'The inferred graph with its layout',
    query: one,
    response: graphSchema,
  },
  symbol: {
    method: 'get',
    path: '/api/symbol/:k',
    summary: 'One symbol: tokens, words, neighbours, labels, usage, sentences',
    params,
    query: one,
    response: symbolSchema,
  },
  rename: {
    method: 'post',
    path: '/api/symbol/:k/name',
    summary: 'Name a symbol; an empty name takes it away. Stored in the run',
    params,
    query: one,
    body: z.strictObject({ ...seen, name: nameText }),
    response: nameSchema,
    example: { identity: '2026-11-18T09:00:00.000Z', name: 'colours' },
  },
  encode: {
    method: 'post',
    path: '/api/encode',
    summary: 'The walk of a sentence on the graph',
    query: one,
    body: z.strictObject({ text }),
    response: encodeSchema,
    example: { text: 'a sentence of the corpus' },
  },
  generate: {
    method: 'post',
    path: '/api/generate',
    summary: 'Sentences about a walk',
    query: one,
    body: z.strictObject({
      walk,
      ...sampling,
      force: z.boolean().default(false).describe('Write although a step of the walk has no link.'),
    }),
    response: generateSchema,
    example: { walk: [3, 1, 4], count: 3, temperature: 0.8, topP: 0.9 },
  },
  attention: {
    method: 'post',
    path: '/api/attention',
    summary: 'Which words of a sentence attend to which symbols of its walk',
    query: one,
    body: z.strictObject({
      text,
      layer: z.int().min(0).max(1000).optional().describe('From 0; the mean of all layers unless said.'),
      head: z.int().min(0).max(1000).optional().describe('From 0; the mean of all heads unless said.'),
    }),
    response: attentionSchema,
    example: { text: 'a sentence of the corpus' },
  },
  nearest: {
    method: 'post',
    path: '/api/nearest',
    summary: 'Sentences of the corpus whose walks are nearest to a walk',
    query: one,
    body: z.strictObject({ walk, limit: z.int().min(1).max(100).default(10) }),
    response: nearestSchema,
    example: { walk: [3, 1, 4], limit: 5 },
  },
  interpolate: {
    method: 'post',
    path: '/api/interpolate',
    summary: 'The steps between two sentences, each with its text',
    query: one,
    body: z.strictObject({
      from: text,
      to: text,
      variant: z
        .enum(['window', 'nodes'])
        .default('window')
        .describe('The paper’s sliding window, or the authors’ way node by node.'),
    }),
    response: interpolationSchema,
    example: { from: 'one sentence', to: 'another sentence' },
  },
  reason: {
    method: 'post',
    path: '/api/reason',
    summary: 'What may follow an event by some relations, with the paths that lead there',
    query: one,
    body: z.strictObject({
      event: z.string().max(2000),
      relations: z.array(z.string().max(200)).max(50).default([]).describe('All of the run unless said.'),
      count: z.int().min(1).max(20).default(5).describe('Different objects of each relation, at most.'),
      along: z
        .array(z.int().min(0))
        .max(200)
        .default([])
        .describe('Symbols that every walk begins with; each a link of the graph from the one before it.'),
    }),
    response: reasonSchema,
    example: { event: 'PersonX goes home', relations: ['xWant'] },
  },
  labels: {
    method: 'get',
    path: '/api/labels',
    summary: 'Distribution over symbols and links for each label',
    query: one,
    response: labelsSchema,
  },
  encoded: {
    method: 'get',
    path: '/api/encoded',
    summary: 'Sentences with their walks, page by page; all, or those of a symbol or a label',
    query: z.strictObject({
      ...ofRun,
      ...page,
      symbol: z.coerce.number().int().min(0).max(1_000_000).optional(),
      label: z.string().max(1000).optional(),
    }),
    response: encodedSchema,
  },
  samples: {
    method: 'get',
    path: '/api/samples',
    summary: 'Validation sentences, their walks, and what the checkpoint writes from these',
    query: z.strictObject({ ...ofRun, limit: z.coerce.number().int().min(1).max(20).default(5) }),
    response: samplesSchema,
  },
  sentences: {
    method: 'get',
    path: '/api/sentences',
    summary: 'Sentences of the corpus, page by page',
    query: z.strictObject({ ...ofRun, ...page, split: z.enum(splits).default('test') }),
    response: sentencesSchema,
  },
  metrics: {
    method: 'get',
    path: '/api/metrics',
    summary: 'Metrics of training after a step, or from a row on; ask again for what is new',
    query: z.strictObject({
      ...ofRun,
      after: z.coerce.number().int().min(-1).default(-1).describe('Only rows of later steps.'),
      from: z.coerce.number().int().min(0).default(0).describe('Only rows from this number on.'),
    }),
    response: metricsSchema,
  },
  curves: {
    method: 'get',
    path: '/api/curves',
    summary: 'Metrics of training as curves of bounded length; ask again for what is new',
    query: z.strictObject({
      ...ofRun,
      known: z.coerce
        .number()
        .int()
        .min(0)
        .optional()
        .describe('The total that the client has the curves of.'),
    }),
    response: curvesSchema,
  },
  evaluation: {
    method: 'get',
    path: '/api/evaluation',
    summary: 'The figures of the finished run',
    query: one,
    response: evaluationSchema,
  },
  ...textEndpoints,
} as const satisfies Record<string, Endpoint>;

/** The name of an endpoint of the server. */
export type EndpointName = keyof typeof endpoints;
/** What an endpoint answers with. */
export type Answer<N extends EndpointName> = z.infer<(typeof endpoints)[N]['response']>;
type InputOf<N extends EndpointName, Part extends string> = (typeof endpoints)[N] extends {
  [P in Part]: infer S extends z.ZodType;
}
  ? z.infer<S>
  : unknown;
/** What a handler is given: path, query and body together. */
export type Input<N extends EndpointName> = InputOf<N, 'params'> & InputOf<N, 'query'> & InputOf<N, 'body'>;
