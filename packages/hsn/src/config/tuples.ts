import { DEFAULT_ENCODER } from '@hidden-schema/transformers/default-encoder';
import { z } from 'zod';
import { languageConfigSchema } from './language.ts';
import { countSchema } from './network.ts';

const { graph, walk, encoder, decoder, objective, warmStart, discovery, training } =
  languageConfigSchema.shape;
const dropout = z.number().min(0).lt(1);

const tuples = z.strictObject({
  /** Whether objects that say "none" are part of the corpus. */
  none: z.enum(['keep', 'drop']).default('drop'),
  /** Only these relations; all unless given. */
  relations: z.array(z.string()).optional(),
  /** Training events at most, drawn by the seed. */
  heads: countSchema.optional(),
});

/** A model of the second half of walks (Section 6, step II). */
const path = z.strictObject({
  /**
   * lstm: the paper's. transformer: in its place. prior: the local prior of appendix H, node weights from (s, r) alone.
   * counts: no network, second halves of training counted and those of the nearest events. mlp: a feed-forward network over
   * the vectors of event and relation and the symbols so far, which trains in a minute.
   */
  kind: z.enum(['lstm', 'transformer', 'prior', 'counts', 'mlp']).default('lstm'),
  /** Width of the LSTMs, as in the paper, and of the feed-forward network. */
  hidden: countSchema.default(512),
  /** Transformer: its width and sizes. */
  width: countSchema.default(256),
  layers: countSchema.default(3),
  heads: countSchema.default(4),
  dropout: dropout.default(0.1),
  /** Whether steps without a link are ruled out. */
  onGraph: z.boolean().default(true),
  /**
   * Where walks pursue: from the second pass over the tuples on, the share of them whose second half the decoder reads
   * from the counted path model (without their own event) in place of the posterior, so that it learns to read such.
   */
  scheduled: z.number().min(0).max(1).default(0.3),
  /** What it learns: what the posterior says of each step after the drawn one before it, or the drawn symbols alone. */
  targets: z.enum(['probabilities', 'samples']).default('probabilities'),
  /**
   * Which graph walks are read on, and which first half is continued. best: links above one half and the most probable
   * walk. drawn: a graph and a first half drawn from the posterior (Section 6, step III). A network's setting.
   */
  reading: z.enum(['best', 'drawn']).default('best'),
  /** Walks drawn of each training tuple. */
  samples: countSchema.default(1),
  /** The second encoder, for (s, r): a pretrained one, or "transformer" from scratch, which is trained along. */
  encoder: z
    .strictObject({
      name: z.string().default(DEFAULT_ENCODER),
      /** Pretrained: whether it stays as it is, or is trained along as the paper's is. */
      frozen: z.boolean().default(true),
      width: countSchema.default(256),
      layers: countSchema.default(2),
      heads: countSchema.default(4),
    })
    .prefault({}),
});

/** A network over tuples (Section 6, step I), or with `baseline` its decoder alone: COMET. */
export const reasoningConfigSchema = languageConfigSchema.extend({
  model: z.literal('reasoning'),
  /** What is trained: the network over tuples (or COMET, its baseline), or a path model on a network's walks. */
  part: z.enum(['network', 'path']).default('network'),
  symbols: z.int().min(2).default(50),
  /** Steps of a walk: half of them for (s, r), half for (s, r, o). */
  length: z.int().min(2).default(20),
  tuples: tuples.prefault({}),
  path: path.prefault({}),
  /** Links are sampled hard and start where the codes of the warm start walk, so that walks keep to the graph. */
  graph: graph
    .unwrap()
    .extend({
      posterior: graph.unwrap().shape.posterior.unwrap().default('free'),
      p: z.number().gt(0).lt(1).default(0.2),
      hard: z.boolean().default(true),
    })
    .prefault({}),
  /** With hard links, node weights need a range: else the gradient of links that are missing drowns all others. */
  walk: walk
    .unwrap()
    .extend({ range: z.union([z.number().positive(), z.literal('none')]).default(5) })
    .prefault({}),
  /** Symbols as found in the encoder's space, where walks pursue; texts here are too short for words beside vectors. */
  discovery: discovery
    .unwrap()
    .omit({ wordWeight: true, fade: true, follow: true, passages: true })
    .prefault({}),
  encoder: encoder
    .unwrap()
    .extend({ longest: encoder.unwrap().shape.longest.unwrap().default(64) })
    .prefault({}),
  decoder: decoder
    .unwrap()
    .omit({ whole: true })
    .extend({
      longest: countSchema.default(64),
      vocabularySize: z.int().min(300).default(4000),
      wordDropout: dropout.default(0.1),
    })
    .prefault({}),
  /** Of sharp walks the aggregated KL of a batch is mostly the batch's own noise: at full weight it blurs them. */
  objective: objective
    .unwrap()
    .extend({
      beta: objective
        .unwrap()
        .shape.beta.unwrap()
        .extend({ to: z.number().nonnegative().default(0.1) })
        .prefault({}),
    })
    .prefault({}),
  warmStart: warmStart
    .unwrap()
    .extend({
      /** What the second half is first fitted to: a code of the object alone, or of the whole tuple. */
      second: z.enum(['object', 'tuple']).default('object'),
      /** Symbols that a step of a code chooses among: more say more of an object and are harder to foresee. */
      choices: z.int().min(2).default(3),
    })
    .prefault({}),
  training: training
    .unwrap()
    .extend({ encoderRate: z.number().positive().default(3e-4) })
    .prefault({}),
});

export type ReasoningConfig = z.infer<typeof reasoningConfigSchema>;
export type PathKind = ReasoningConfig['path']['kind'];
/** The kinds that are networks and learn by gradient. */
export type NetworkKind = Exclude<PathKind, 'counts'>;
/** A path model, or counts and a network together. */
export type PathChoice = PathKind | `counts+${NetworkKind}`;
