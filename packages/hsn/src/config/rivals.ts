import { z } from 'zod';
import { languageConfigSchema } from './language.ts';
import { countSchema } from './network.ts';

const { seed, device, symbols, length, encoder, decoder, objective, training, checkpoints } =
  languageConfigSchema.shape;

const beta = objective.unwrap().shape.beta.unwrap();
const texts = { seed, device, checkpoints };

/** The encoder of a Hidden Schema Network, whose queries are read by another head. */
const reading = encoder.unwrap().omit({ walks: true, sharpness: true, precision: true });
/** Its decoder; a latent is no walk, and adapters are not made for its projections. */
const writing = decoder
  .unwrap()
  .omit({ symbolAttention: true, symbolPositions: true, symbolProjections: true, lora: true });
const learning = training.unwrap().omit({ graphRate: true });

/** Latents are drawn as wide as the prior: only small projections of them do not drown the words beside them. */
const writingLatents = writing.extend({ symbolDeviation: z.number().positive().default(0.003) });
const learningLatents = learning.extend({ symbolRate: z.number().positive().default(1) });

/** β rises in cycles, from 0 for half of each. */
const cyclical = beta
  .extend({
    kind: beta.shape.kind.unwrap().default('cyclical'),
    zero: beta.shape.zero.unwrap().default(0.5),
    rise: beta.shape.rise.unwrap().default(0.25),
  })
  .prefault({});

/** Numbers that stand for a text. */
const latent = countSchema.default(32);

/** Optimus: a Gaussian latent between an encoder and a GPT-2. */
export const optimusConfigSchema = z.strictObject({
  model: z.literal('optimus'),
  ...texts,
  latent,
  /** memory: keys and values in every layer. embedding: added to every token's embedding. */
  injection: z.enum(['memory', 'embedding', 'both']).default('both'),
  /** λ: nats of each dimension that cost nothing more to use. The paper's A has 0.05, its B 1. */
  threshold: z.number().nonnegative().default(0.05),
  beta: cyclical,
  encoder: reading.prefault({}),
  decoder: writingLatents.prefault({}),
  training: learningLatents.prefault({}),
});

/** iVAE: an LSTM with noise draws latents whose density nobody knows, and a dual function measures their divergence. */
export const ivaeConfigSchema = z.strictObject({
  model: z.literal('ivae'),
  ...texts,
  latent,
  /** Width of the layers that make a latent of features and noise. */
  hidden: countSchema.default(256),
  /** aggregated: the mutual-information variant. sentence: the divergence of each sentence's own latents. */
  divergence: z.enum(['aggregated', 'sentence']).default('aggregated'),
  /** The dual function ν: its width, its updates before each of the model's, and their rate. */
  dual: z
    .strictObject({
      hidden: countSchema.default(256),
      updates: countSchema.default(5),
      rate: z.number().positive().default(1e-3),
    })
    .prefault({}),
  beta: beta.extend({ kind: beta.shape.kind.unwrap().default('linear') }).prefault({}),
  encoder: reading
    .extend({
      name: z.string().default('lstm'),
      layers: countSchema.default(1),
    })
    .prefault({}),
  decoder: writingLatents
    .extend({ name: z.string().default('lstm'), layers: countSchema.default(1) })
    .prefault({}),
  training: learningLatents.prefault({}),
});

/** VQ-VAE: L codes of K, and an autoregressive prior over them. */
export const vqConfigSchema = z.strictObject({
  model: z.literal('vq'),
  ...texts,
  symbols,
  length,
  /** Width of a code's vector. */
  code: countSchema.default(64),
  /** How vectors of codes learn: as running means of what is written by them, or by a loss. */
  codebook: z.enum(['ema', 'loss']).default('ema'),
  /** ema: what a running mean keeps of itself at each step. */
  keep: z.number().gt(0).lt(1).default(0.99),
  /** ema: codes less used than this many times a batch begin again at a text; 0: they stay. */
  restart: z.number().nonnegative().default(0.5),
  /** Weight of the squared distance that holds the encoder to its codes. */
  commitment: z.number().nonnegative().default(0.25),
  /** Width of the LSTM that foresees codes. */
  prior: countSchema.default(128),
  /** Importance draws take a code by exp(−distance² / temperature). */
  temperature: z.number().positive().default(1),
  encoder: reading.prefault({}),
  decoder: writing.extend({ symbolPositions: decoder.unwrap().shape.symbolPositions }).prefault({}),
  training: learning.prefault({}),
});

export type OptimusConfig = z.infer<typeof optimusConfigSchema>;
export type IvaeConfig = z.infer<typeof ivaeConfigSchema>;
export type VqConfig = z.infer<typeof vqConfigSchema>;

/** The settings of a model that the paper's is compared with. */
export type RivalConfig = OptimusConfig | IvaeConfig | VqConfig;

/** What each of them is called. */
export const rivalNames = { optimus: 'Optimus', ivae: 'iVAE', vq: 'VQ-VAE' } as const;

export const isRival = <C extends { model: string }>(config: C | RivalConfig): config is RivalConfig =>
  Object.hasOwn(rivalNames, config.model);
