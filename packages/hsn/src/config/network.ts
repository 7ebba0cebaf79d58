import { z } from 'zod';
import type { GraphSettings } from '../graph/closed-form.ts';
import type { GraphPriorName } from '../graph/priors.ts';
import type { SchemaProcessName } from '../walk/processes.ts';

/** A number that may change over training steps: fixed, or going from one value to another. */
const annealedSchema = z.union([
  z.number().positive(),
  z.strictObject({
    from: z.number().positive(),
    to: z.number().positive(),
    steps: z.int().positive(),
    shape: z.enum(['linear', 'exponential']).default('exponential'),
  }),
]);

/** What `graph.prior` may be: names alone, so that settings are read without the engine. */
const graphPriorNames = [
  'bernoulli',
  'beta',
  'power-law',
  'sparse',
  'preferential-attachment',
  'drawn',
] as const satisfies readonly GraphPriorName[];

/** What `walk.process` may be. */
const schemaProcessNames = ['walk', 'tree'] as const satisfies readonly SchemaProcessName[];

const probabilitySchema = z.number().gt(0).lt(1);
export const countSchema = z.int().positive();

/**
 * Where tensors are and operators run: the CPU unless given. cuda: the graphics card, in several processes one for each;
 * cuda:1 the second card; auto: a card where there is one. --device and HSN_DEVICE count more.
 */
export const deviceSchema = z
  .union([z.enum(['cpu', 'cuda', 'auto']), z.templateLiteral(['cuda:', z.string().regex(/^\d+$/)])])
  .optional();

/** The joint norm that the gradients of each group of weights are scaled down to; none: they are left as they are. */
export const clipSchema = z.union([z.literal('none'), z.number().positive()]);

/** How rates change: after the warm-up they stay, fall on a line or half a cosine, or fall where validation stalls. */
export const scheduleSchema = z.enum(['constant', 'linear', 'cosine', 'plateau']);

/** Of the schedule `plateau`, counted in evaluations. */
export const plateauSchema = z.strictObject({
  /** What rates are multiplied by. */
  factor: z.number().gt(0).lt(1).default(0.8),
  /** Evaluations in a row without a better validation objective that are let pass before rates fall. */
  patience: z.int().nonnegative().default(0),
  /** Training ends where the first rate falls below this. */
  least: z.number().nonnegative().default(0),
});

export const graphSchema = z.strictObject({
  /** inner-normed: the authors' synthetic program, whose links start near the complete graph. */
  posterior: z.enum(['closed-form', 'pairs', 'inner', 'inner-normed', 'free']).default('closed-form'),
  /** A line of the registry each (`packages/hsn/src/graph/priors`); drawn: the authors' synthetic program. */
  prior: z.enum(graphPriorNames).default('beta'),
  /** Link probability of the Bernoulli prior, and the typical one of the power law. */
  p: probabilitySchema.default(0.2),
  /** Beta(a, b) on a learned link probability. */
  beta: z.tuple([z.number().positive(), z.number().positive()]).default([1, 1]),
  /** Exponent of the power-law prior's degrees. */
  exponent: z.number().gt(1).default(3),
  /** Sparse prior: links that a symbol has on average, however many symbols there are. */
  degree: z.number().positive().default(6),
  /** Preferential attachment: links that each new symbol brings (m of Barabási–Albert). */
  attachments: countSchema.default(3),
  /**
   * Logarithm of a probability of zero: that of 1e-8, or 0 as in the authors' program, so that it costs nothing. With
   * free, a missing link gets no gradient from the aggregated KL of walks.
   */
  logZero: z.enum(['floor', 'free']).default('floor'),
  selfLoops: z.boolean().default(false),
  symbols: z.enum(['one-hot', 'bags', 'learnable']).default('one-hot'),
  symbolDimension: countSchema.default(64),
  hidden: countSchema.default(256),
  layers: countSchema.default(1),
  temperature: annealedSchema.default(0.75),
  hard: z.boolean().default(true),
  /** What the graph's KL is divided by: the training set's size, the batch's, nothing, or a number of sentences. */
  klWeight: z.union([z.enum(['data', 'batch', 'one']), z.number().positive()]).default('data'),
  /** links: the KL is summed over links (appendix D.2). mean: of the mean link probability, as in the authors' program. */
  klOf: z.enum(['links', 'mean']).default('links'),
  /** Closed form: nats a sentence pays for walking a missing link; by default what the decoder's noise makes it. */
  missingLinkCost: z.number().gt(1).optional(),
  /** Closed form: weight of the newest batch in the running mean of traversals. */
  traversalRate: z.number().gt(0).max(1).default(0.05),
  /** Closed form: passes over the sentences before the encoder trains, at most; they end when they gain nothing more. */
  sweeps: z.int().nonnegative().default(100),
  /** Closed form: training sentences a sweep reads, at most. */
  sweepSentences: countSchema.default(20_000),
});

export const walkSchema = z.strictObject({
  prior: z.enum(['uniform', 'trained', 'inhomogeneous']).default('uniform'),
  posterior: z.enum(['graph', 'mean-field', 'complete']).default('graph'),
  /** What a schema is, a line of the registry each (`packages/hsn/src/walk/processes`): a walk, or a tree of symbols. */
  process: z.enum(schemaProcessNames).default('walk'),
  form: z.enum(['paper', 'symmetric']).default('paper'),
  /** c of the symmetric form. */
  constant: z.number().nonnegative().default(0),
  /** Most nats by which node weights of a step may differ; bounds the gradient of missing links. none: no bend. */
  range: z.union([z.literal('none'), z.number().positive()]).optional(),
  isolated: z.enum(['uniform', 'stay']).default('uniform'),
  /**
   * Whether walks may end before their last step by staying on a symbol: the prior weighs each symbol's link to itself, and
   * a walk that is read by pursuit names only symbols that stand out for its text. A uniform prior has no such weights.
   */
  stays: z.boolean().default(false),
  /** exact: marginals in place of sampled walks, where the likelihood factorises over steps. */
  expectation: z.enum(['exact', 'sampled']).default('exact'),
  temperature: annealedSchema.default(0.75),
  hard: z.boolean().default(true),
});

const encoder = z.strictObject({
  width: countSchema.default(256),
  heads: countSchema.default(2),
  blocks: countSchema.default(2),
  hidden: countSchema.default(256),
  dropout: z.number().min(0).lt(1).default(0.2),
  /** position: a walk step reads its own token. queries: L learnable queries read all tokens (appendix C.2). */
  readout: z.enum(['position', 'queries']).default('position'),
  /** smoothing: the encoder also learns from the exact posterior, which the closed-form graph computes anyway. */
  teacher: z.enum(['smoothing', 'none']).default('smoothing'),
});

const betaSchema = z.strictObject({
  kind: z.enum(['constant', 'linear', 'cyclical', 'exponential']).default('constant'),
  to: z.number().nonnegative().default(1),
  /** Steps of the ramp, or of one cycle. */
  steps: countSchema.default(1000),
  /** Part of a cycle that stays at 0 before it rises. */
  zero: z.number().min(0).lt(1).default(0),
  /** Part of a cycle that rises; the rest stays at the top. */
  rise: z.number().gt(0).max(1).default(0.5),
});

export const objectiveSchema = z.strictObject({
  /** information: the paper's (Eq. 28). elbo: Eq. 10. */
  kind: z.enum(['information', 'elbo']).default('information'),
  aggregation: z.enum(['mean', 'projection']).default('projection'),
  beta: betaSchema.prefault({}),
  /** information: nats that walks may tell of a sentence for nothing; what is above costs as much as in the ELBO. */
  capacity: z.number().nonnegative().optional(),
  /** Walk KL below this many nats is not pushed further down. */
  klThreshold: z.number().nonnegative().default(0),
  /** The same for the graph's KL, before it is divided. */
  graphKlThreshold: z.number().nonnegative().default(0),
  /** Share of uniform noise in a bag's token probabilities. */
  noise: z.number().gt(0).lt(1).default(1e-3),
  /** bags: Π e_j(x) (Section 4). bags-as-logits: bag probabilities through a softmax, as in the authors' program. */
  likelihood: z.enum(['bags', 'bags-as-logits']).default('bags'),
});

const training = z.strictObject({
  steps: countSchema.default(600),
  batch: countSchema.default(256),
  rate: z.number().positive().default(1e-3),
  graphRate: z.number().positive().default(1e-2),
  decay: z.number().nonnegative().default(0),
  clip: clipSchema.default(1),
  warmup: z.int().nonnegative().default(50),
  schedule: scheduleSchema.default('cosine'),
  plateau: plateauSchema.prefault({}),
  logEvery: countSchema.default(20),
  evaluateEvery: countSchema.default(100),
  /** What on validation sentences selects the best model and lowers rates; the authors' program takes the likelihood. */
  validateBy: z.enum(['objective', 'likelihood']).default('objective'),
  /** Evaluations without a better validation objective before training stops. */
  patience: countSchema.default(10),
  /** bfloat16: matrix products of encoder and decoder in half the bits, for processors that have them in hardware. */
  precision: z.enum(['float32', 'bfloat16']).default('float32'),
});

/** What is kept of a training while it runs. */
export const checkpointsSchema = z.strictObject({
  /** Steps (or parts of the preparation) from one to the next; by default at every evaluation. */
  every: countSchema.optional(),
  /** How many of the last are kept. */
  keep: countSchema.default(3),
  /** Whether the one with the best validation objective is kept too, and evaluated at the end. */
  best: z.boolean().default(true),
});

/** Checks the settings of a synthetic language, and fills in what is not given. */
export const syntheticOptions = z.strictObject({
  model: z.literal('synthetic').default('synthetic'),
  seed: z.int().nonnegative().default(1),
  device: deviceSchema,
  /** Number of symbols; with given bags, theirs. */
  symbols: countSchema.optional(),
  /** Steps of a walk; in the synthetic language, as many as a sentence has tokens. */
  length: countSchema.optional(),
  graph: graphSchema.prefault({}),
  walk: walkSchema.prefault({}),
  encoder: encoder.prefault({}),
  objective: objectiveSchema.prefault({}),
  training: training.prefault({}),
  checkpoints: checkpointsSchema.prefault({}),
});

/** The settings of a synthetic language. */
export type SyntheticConfig = z.infer<typeof syntheticOptions>;
export type CheckpointSettings = z.infer<typeof checkpointsSchema>;
export type Annealed = z.infer<typeof annealedSchema>;

/** The settings that every network is made from, whatever its data. */
export interface NetworkConfig {
  seed: number;
  graph: GraphSettings &
    Pick<z.infer<typeof graphSchema>, 'selfLoops' | 'temperature' | 'hard' | 'klWeight' | 'klOf'>;
  walk: z.infer<typeof walkSchema>;
  objective: Omit<z.infer<typeof objectiveSchema>, 'noise' | 'likelihood'>;
  training: Pick<z.infer<typeof training>, 'precision'>;
  /** The decoder alone, without symbols. */
  baseline?: boolean;
}
