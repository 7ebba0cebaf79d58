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
  type Tensor,
  type TensorOptions,
  tensor,
} from '@hidden-schema/torch';
import { z } from 'zod';
import type { TokenRows } from './bert.ts';

// Shapes: B sentences, T tokens, N tokens of all texts, D width. Members carry Hugging Face's names, so that paths are
// checkpoint names.

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
export const firstPosition = { bert: 0, mpnet: 2 } as const;

type Parts = { config: BertConfig; generator: Generator; options: TensorOptions };

export class Embeddings extends nn.Module {
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
    const gelu = this.#config.hidden_act === 'gelu' ? 'none' : 'tanh';
    const active =
      this.#config.hidden_act === 'relu'
        ? layer.forward(attended).relu()
        : linearGelu(attended, layer.weight, layer.bias!, gelu);
    return this.output.forward(active, attended);
  }

  /** Its weights as they are now, packed; they live until they are freed. */
  packed(precision: EncoderPrecision): PackedLayer {
    const pack = ({ weight, bias }: { weight: Tensor; bias: Tensor | undefined }) => {
      const made = packLinear(weight, bias, precision);
      return { ...made, data: made.data.keep(), table: made.table.keep() };
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

export class Stack extends nn.Module {
  readonly layer: Layer[];
  /** MPNet's. */
  readonly relative_attention_bias: RelativePositions | undefined;

  constructor(parts: Parts) {
    super();
    this.layer = Array.from({ length: parts.config.num_hidden_layers }, () => new Layer(parts));
    if (parts.config.model_type === 'mpnet') this.relative_attention_bias = new RelativePositions(parts);
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

// Shapes: T tokens, H heads, M positions.

/** Beyond this distance all keys are equally far. */
const farthest = 128;

/** What MPNet adds to the score of a key by how far it lies from its query: a number for each head and bucket of distances. */
export class RelativePositions extends nn.Module {
  readonly weight: Tensor; // [buckets, H]

  constructor({ config, generator, options }: Parts) {
    super();
    const shape = [config.relative_attention_num_buckets, config.num_attention_heads];
    this.weight = nn.parameter(nn.normal(shape, config.initializer_range, generator, options));
  }

  /** For all pairs of T tokens. [1, H, T, T] */
  matrix(tokens: number): Tensor {
    const buckets = Array.from({ length: tokens * tokens }, (_, at) =>
      this.#bucket((at % tokens) - Math.floor(at / tokens)),
    );
    return this.#of(buckets).reshape(tokens, tokens, -1).permute(2, 0, 1).unsqueeze(0);
  }

  /** For keys from M − 1 before their query to M − 1 after it. [H, 2·M − 1] */
  byDistance(positions: number): Tensor {
    const buckets = Array.from({ length: 2 * positions - 1 }, (_, at) => this.#bucket(at - positions + 1));
    return this.#of(buckets).transpose(0, 1).contiguous();
  }

  #of(buckets: readonly number[]): Tensor {
    return this.weight.indexSelect(0, tensor(Int32Array.from(buckets)));
  }

  /** Half of the buckets for keys after their query; of each half the first half single distances, then by logarithm. */
  #bucket(distance: number): number {
    const half = this.weight.dim(0) >> 1;
    const single = half >> 1;
    const away = Math.abs(distance);
    const logarithmic = Math.log(away / single) / Math.log(farthest / single);
    const within =
      away < single ? away : Math.min(half - 1, single + Math.floor(logarithmic * (half - single)));
    return within + (distance > 0 ? half : 0);
  }
}
