import {
  type Activation,
  cat,
  type EncoderPrecision,
  type Generator,
  linearGelu,
  linearNorm,
  nn,
  noGrad,
  type PackedLayer,
  packLinear,
  scope,
  type Tensor,
  type TensorOptions,
} from '@hidden-schema/torch';
import { z } from 'zod';
import { freePacked, type PackedParts, packedVectors, packs, type TokenRows } from './packed-encoder.ts';
import { RelativePositions } from './relative-positions.ts';
import { checkLength, paddingMask, type TextEncoder } from './text-encoder.ts';

// Shapes: B sentences, T tokens, D width. Members carry Hugging Face's names, so that paths are checkpoint names.

/** The part of the config.json of a BERT, or of an MPNet, that decides its shape and arithmetic. */
export const bertConfigSchema = z.looseObject({
  model_type: z.enum(['bert', 'mpnet']).default('bert'),
  vocab_size: z.int().positive(),
  hidden_size: z.int().positive(),
  num_hidden_layers: z.int().positive(),
  num_attention_heads: z.int().positive(),
  intermediate_size: z.int().positive(),
  max_position_embeddings: z.int().positive().default(512),
  type_vocab_size: z.int().positive().default(2),
  relative_attention_num_buckets: z.int().min(4).default(32),
  hidden_act: z.enum(['gelu', 'gelu_new', 'relu']).default('gelu'),
  hidden_dropout_prob: z.number().min(0).lt(1).default(0.1),
  attention_probs_dropout_prob: z.number().min(0).lt(1).default(0.1),
  layer_norm_eps: z.number().positive().default(1e-12),
  initializer_range: z.number().positive().default(0.02),
  position_embedding_type: z.literal('absolute').default('absolute'),
  pad_token_id: z.int().min(0).nullish(),
});
export type BertConfig = z.output<typeof bertConfigSchema>;

/** MPNet counts positions from two, after that of padding. */
const firstPosition = { bert: 0, mpnet: 2 } as const;

type Parts = { config: BertConfig; generator: Generator; options: TensorOptions };

class Embeddings extends nn.Module {
  readonly word_embeddings: nn.Embedding;
  readonly position_embeddings: nn.Embedding;
  /** MPNet has no types of tokens. */
  readonly token_type_embeddings: nn.Embedding | undefined;
  readonly LayerNorm: nn.LayerNorm;
  readonly dropout: nn.Dropout;
  readonly first: number;

  constructor({ config, generator, options }: Parts) {
    super();
    const { hidden_size: width, model_type: kind } = config;
    const table = (count: number) =>
      new nn.Embedding(count, width, generator, { ...options, deviation: config.initializer_range });
    this.word_embeddings = table(config.vocab_size);
    this.position_embeddings = table(config.max_position_embeddings);
    this.token_type_embeddings = kind === 'bert' ? table(config.type_vocab_size) : undefined;
    this.first = firstPosition[kind];
    this.LayerNorm = new nn.LayerNorm(width, { ...options, epsilon: config.layer_norm_eps });
    this.dropout = new nn.Dropout(config.hidden_dropout_prob, generator);
  }

  forward(ids: Tensor): Tensor {
    const positions = this.position_embeddings.weight.narrow(0, this.first, ids.dim(1)); // [T, D]
    const embedded = this.word_embeddings.forward(ids).add(this.#typed(positions));
    return this.dropout.forward(this.LayerNorm.forward(embedded));
  }

  /** The same of texts that lie one after the other. [N, D] */
  rows({ ids, places }: TokenRows): Tensor {
    const positions = this.position_embeddings.forward(this.first > 0 ? places.add(this.first) : places);
    return this.LayerNorm.forward(this.word_embeddings.forward(ids).add(this.#typed(positions)));
  }

  /** One sentence at a time: every token is of type 0. */
  #typed(positions: Tensor): Tensor {
    return this.token_type_embeddings
      ? positions.add(this.token_type_embeddings.weight.select(0, 0))
      : positions;
  }
}

class SelfAttention extends nn.Module {
  readonly query: nn.Linear;
  readonly key: nn.Linear;
  readonly value: nn.Linear;
  readonly dropout: nn.Dropout;
  readonly heads: number;

  constructor(parts: Parts) {
    super();
    const { hidden_size: width, num_attention_heads: heads } = parts.config;
    if (width % heads !== 0) throw new RangeError(`a width of ${width} does not divide into ${heads} heads`);
    this.heads = heads;
    this.query = dense(width, width, parts);
    this.key = dense(width, width, parts);
    this.value = dense(width, width, parts);
    this.dropout = new nn.Dropout(parts.config.attention_probs_dropout_prob, parts.generator);
  }

  forward(x: Tensor, mask: Tensor): Tensor {
    return nn.selfAttend(x, this, this.heads, { mask, dropout: this.dropout });
  }
}

/** A projection that is added to where it came from, then normed. */
class Residual extends nn.Module {
  readonly dense: nn.Linear;
  readonly LayerNorm: nn.LayerNorm;
  readonly dropout: nn.Dropout;

  constructor(inputs: number, parts: Parts) {
    super();
    const { hidden_size: width, layer_norm_eps: epsilon } = parts.config;
    this.dense = dense(inputs, width, parts);
    this.LayerNorm = new nn.LayerNorm(width, { ...parts.options, epsilon });
    this.dropout = new nn.Dropout(parts.config.hidden_dropout_prob, parts.generator);
  }

  forward(x: Tensor, from: Tensor): Tensor {
    const { dense: layer, LayerNorm: norm, dropout } = this;
    if (dropout.active) return norm.forward(dropout.onto(from, layer.forward(x)));
    return linearNorm(x, { weight: layer.weight, bias: layer.bias! }, from, norm);
  }
}

class Attention extends nn.Module {
  readonly self: SelfAttention;
  readonly output: Residual;

  constructor(parts: Parts) {
    super();
    this.self = new SelfAttention(parts);
    this.output = new Residual(parts.config.hidden_size, parts);
  }
}

class Intermediate extends nn.Module {
  readonly dense: nn.Linear;

  constructor(parts: Parts) {
    super();
    this.dense = dense(parts.config.hidden_size, parts.config.intermediate_size, parts);
  }
}

class Layer extends nn.Module {
  readonly attention: Attention;
  readonly intermediate: Intermediate;
  readonly output: Residual;
  readonly #config: BertConfig;

  constructor(parts: Parts) {
    super();
    this.attention = new Attention(parts);
    this.intermediate = new Intermediate(parts);
    this.output = new Residual(parts.config.intermediate_size, parts);
    this.#config = parts.config;
  }

  forward(x: Tensor, mask: Tensor): Tensor {
    const attended = this.attention.output.forward(this.attention.self.forward(x, mask), x);
    const { dense: layer } = this.intermediate;
    const active =
      this.#config.hidden_act === 'relu'
        ? layer.forward(attended).relu()
        : linearGelu(
            attended,
            layer.weight,
            layer.bias!,
            this.#config.hidden_act === 'gelu' ? 'none' : 'tanh',
          );
    return this.output.forward(active, attended);
  }

  /** Its weights as they are now, packed; they live until they are freed. */
  packed(precision: EncoderPrecision): PackedLayer {
    const pack = ({ weight, bias }: { weight: Tensor; bias: Tensor | undefined }) => {
      const { data, table, outputs } = packLinear(weight, bias, precision);
      return { data: data.keep(), table: table.keep(), outputs };
    };
    const { self, output } = this.attention;
    const projections = [self.query, self.key, self.value];
    return {
      attention: pack({
        weight: cat(projections.map(({ weight }) => weight)),
        bias: cat(projections.map(({ bias }) => bias!)),
      }),
      output: pack(output.dense),
      up: pack(this.intermediate.dense),
      down: pack(this.output.dense),
      norms: [output.LayerNorm, this.output.LayerNorm],
      heads: self.heads,
      activation: activations[this.#config.hidden_act],
      epsilon: output.LayerNorm.epsilon,
    };
  }
}

const activations: Readonly<Record<BertConfig['hidden_act'], Activation>> = {
  gelu: 'gelu',
  gelu_new: 'gelu_tanh',
  relu: 'relu',
};

class Stack extends nn.Module {
  readonly layer: Layer[];
  /** MPNet's. */
  readonly relative_attention_bias: RelativePositions | undefined;

  constructor(parts: Parts) {
    super();
    this.layer = Array.from({ length: parts.config.num_hidden_layers }, () => new Layer(parts));
    if (parts.config.model_type === 'mpnet') this.relative_attention_bias = new RelativePositions(parts);
  }
}

/** BERT without its pooler: embeddings, then layers of masked self-attention (Devlin et al.); or MPNet, likewise. */
export class BertEncoder extends nn.Module implements TextEncoder {
  readonly config: BertConfig;
  readonly width: number;
  readonly vocabulary: number;
  readonly positions: number;
  readonly embeddings: Embeddings;
  readonly encoder: Stack;
  /** The numbers that `vectors` multiplies in. */
  precision: EncoderPrecision = 'float32';
  #packed: { parts: PackedParts; precision: EncoderPrecision } | undefined;

  /** From scratch: weights normal with the config's range, biases zero. `bert-weights.ts` fills in trained ones. */
  constructor(config: BertConfig, generator: Generator, options: TensorOptions = {}) {
    super();
    this.config = config;
    this.width = config.hidden_size;
    this.vocabulary = config.vocab_size;
    this.positions = config.max_position_embeddings - firstPosition[config.model_type];
    const parts = { config, generator, options };
    this.embeddings = new Embeddings(parts);
    this.encoder = new Stack(parts);
  }

  hidden(ids: Tensor, mask: Tensor): Tensor {
    checkLength(ids, this.positions);
    const relative = this.encoder.relative_attention_bias?.matrix(ids.dim(1));
    const padding = relative ? paddingMask(mask).add(relative) : paddingMask(mask);
    // A scope for each layer: the next one works in memory that is still in the caches.
    return this.encoder.layer.reduce(
      (x, layer) => scope(() => layer.forward(x, padding)),
      this.embeddings.forward(ids),
    );
  }

  /** Texts as unit means of their states, by packed weights where those pay. [B, D] */
  vectors(texts: readonly Int32Array[]): Tensor | undefined {
    const { hidden_size: width, num_attention_heads: heads } = this.config;
    const { weight } = this.embeddings.word_embeddings;
    if (!packs(this.precision, width / heads) || weight.dtype !== 'float32' || weight.device !== 'cpu')
      return undefined;
    for (const { length } of texts) checkLength(length, this.positions);
    // Weights that learn are other ones the next time.
    if (!weight.requiresGrad) return packedVectors(this.#frozenParts(), texts);
    const parts = this.#pack();
    try {
      return packedVectors(parts, texts);
    } finally {
      freePacked(parts);
    }
  }

  override free(): void {
    super.free();
    if (this.#packed) freePacked(this.#packed.parts);
    this.#packed = undefined;
  }

  #frozenParts(): PackedParts {
    if (this.#packed?.precision === this.precision) return this.#packed.parts;
    if (this.#packed) freePacked(this.#packed.parts);
    this.#packed = { parts: this.#pack(), precision: this.precision };
    return this.#packed.parts;
  }

  #pack(): PackedParts {
    return noGrad(() =>
      scope(() => ({
        layers: this.encoder.layer.map((layer) => layer.packed(this.precision)),
        relative: this.encoder.relative_attention_bias?.byDistance(this.positions).keep(),
        embed: (rows) => this.embeddings.rows(rows),
      })),
    );
  }
}

function dense(inputs: number, outputs: number, { config, generator, options }: Parts): nn.Linear {
  const layer = new nn.Linear(inputs, outputs, generator, options);
  noGrad(() => {
    const start = nn.normal([outputs, inputs], config.initializer_range, generator, options);
    layer.weight.copy_(start);
    start.free();
    layer.bias!.zero_();
  });
  return layer;
}
