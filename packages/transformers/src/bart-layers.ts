import { linearGelu, nn, scope, type Tensor } from '@hidden-schema/torch';
import type { KeysValues, Memory } from './cache.ts';
import type { Making } from './decoder-architecture.ts';
import { type BartConfig, positionOffset } from './decoder-config.ts';
import type { Projection } from './projection.ts';
import { type AttentionContext, attendWithSymbols } from './symbol-attention.ts';

// Shapes: B sentences, S tokens of the source, T tokens of the target, D width. Fields carry the names of Hugging Face's
// checkpoints.

const plain = { layout: 'out-in', bias: true } as const;

class BartAttention extends nn.Module {
  readonly q_proj: Projection;
  readonly k_proj: Projection;
  readonly v_proj: Projection;
  readonly out_proj: Projection;
  readonly dropout: nn.Dropout;
  readonly #heads: number;

  constructor(heads: number, config: BartConfig, making: Making) {
    super();
    const width = config.d_model;
    this.#heads = heads;
    this.q_proj = making.projection(width, width, plain);
    this.k_proj = making.projection(width, width, plain);
    this.v_proj = making.projection(width, width, plain);
    this.out_proj = making.projection(width, width, plain);
    this.dropout = new nn.Dropout(config.attention_dropout, making.generator);
  }

  query(x: Tensor): Tensor {
    return nn.splitHeads(this.q_proj.forward(x), this.#heads);
  }

  /** [B, heads, S, d] each */
  keysValues(x: Tensor): KeysValues {
    return {
      key: nn.splitHeads(this.k_proj.forward(x), this.#heads),
      value: nn.splitHeads(this.v_proj.forward(x), this.#heads),
    };
  }

  /** x reads in keys and values that are there already. */
  over(x: Tensor, { key, value }: KeysValues, mask: Tensor): Tensor {
    const mixed = nn.attend(this.query(x), key, value, { mask, dropout: this.dropout });
    return this.out_proj.forward(nn.joinHeads(mixed));
  }

  /** x reads in itself and, with a cache, in all before it. */
  causal(x: Tensor, layer: number, context: AttentionContext): Tensor {
    const parts = { layer, query: this.query(x), token: this.keysValues(x), psa: undefined };
    return this.out_proj.forward(attendWithSymbols({ ...parts, dropout: this.dropout }, context));
  }
}

/** What layers of both sides have: attention to themselves and a feed-forward part, each normed after it is added. */
abstract class BartLayer extends nn.Module {
  readonly self_attn: BartAttention;
  readonly self_attn_layer_norm: nn.LayerNorm;
  readonly fc1: Projection;
  readonly fc2: Projection;
  readonly final_layer_norm: nn.LayerNorm;
  readonly dropout: nn.Dropout;
  readonly activation_dropout: nn.Dropout;

  constructor(config: BartConfig, making: Making, sizes: { heads: number; inner: number }) {
    super();
    const { d_model: width } = config;
    this.self_attn = new BartAttention(sizes.heads, config, making);
    this.self_attn_layer_norm = new nn.LayerNorm(width, making.tensors);
    this.fc1 = making.projection(width, sizes.inner, plain);
    this.fc2 = making.projection(sizes.inner, width, plain);
    this.final_layer_norm = new nn.LayerNorm(width, making.tensors);
    this.dropout = new nn.Dropout(config.dropout, making.generator);
    this.activation_dropout = new nn.Dropout(config.activation_dropout, making.generator);
  }

  protected added(x: Tensor, read: Tensor, norm: nn.LayerNorm): Tensor {
    return norm.forward(this.dropout.onto(x, read));
  }

  protected fed(x: Tensor): Tensor {
    const { weight, bias, lora_A } = this.fc1;
    const inner = lora_A ? this.fc1.forward(x).gelu() : linearGelu(x, weight, bias!, 'none');
    return this.added(x, this.fc2.forward(this.activation_dropout.forward(inner)), this.final_layer_norm);
  }
}

class BartEncoderLayer extends BartLayer {
  constructor(config: BartConfig, making: Making) {
    super(config, making, { heads: config.encoder_attention_heads, inner: config.encoder_ffn_dim });
  }

  forward(x: Tensor, mask: Tensor): Tensor {
    const read = this.self_attn.over(x, this.self_attn.keysValues(x), mask);
    return this.fed(this.added(x, read, this.self_attn_layer_norm));
  }
}

class BartDecoderLayer extends BartLayer {
  readonly encoder_attn: BartAttention;
  readonly encoder_attn_layer_norm: nn.LayerNorm;

  constructor(config: BartConfig, making: Making) {
    super(config, making, { heads: config.decoder_attention_heads, inner: config.decoder_ffn_dim });
    this.encoder_attn = new BartAttention(config.decoder_attention_heads, config, making);
    this.encoder_attn_layer_norm = new nn.LayerNorm(config.d_model, making.tensors);
  }

  forward(x: Tensor, layer: number, memory: Memory, context: AttentionContext): Tensor {
    const own = this.added(x, this.self_attn.causal(x, layer, context), this.self_attn_layer_norm);
    const make = () => this.encoder_attn.keysValues(memory.states);
    const source = context.cache ? context.cache.source(layer, make) : make();
    const read = this.encoder_attn.over(own, source, memory.mask);
    return this.fed(this.added(own, read, this.encoder_attn_layer_norm));
  }
}

/** Positions and the norm that come before the layers of a side. */
abstract class BartSide extends nn.Module {
  readonly embed_positions: nn.Embedding;
  readonly layernorm_embedding: nn.LayerNorm;
  readonly dropout: nn.Dropout;

  constructor(config: BartConfig, making: Making) {
    super();
    const rows = config.max_position_embeddings + positionOffset;
    this.embed_positions = making.table(rows, config.d_model);
    this.layernorm_embedding = new nn.LayerNorm(config.d_model, making.tensors);
    this.dropout = new nn.Dropout(config.dropout, making.generator);
  }

  protected placed(embedded: Tensor, start: number): Tensor {
    const places = this.embed_positions.weight.narrow(0, positionOffset + start, embedded.dim(1));
    return this.dropout.forward(this.layernorm_embedding.forward(embedded.add(places)));
  }
}

export class BartReading extends BartSide {
  readonly layers: BartEncoderLayer[];

  constructor(config: BartConfig, making: Making) {
    super(config, making);
    this.layers = Array.from({ length: config.encoder_layers }, () => new BartEncoderLayer(config, making));
  }

  forward(embedded: Tensor, mask: Tensor): Tensor {
    return this.layers.reduce((x, layer) => scope(() => layer.forward(x, mask)), this.placed(embedded, 0));
  }
}

export class BartWriting extends BartSide {
  readonly layers: BartDecoderLayer[];

  constructor(config: BartConfig, making: Making) {
    super(config, making);
    this.layers = Array.from({ length: config.decoder_layers }, () => new BartDecoderLayer(config, making));
  }

  forward(embedded: Tensor, start: number, memory: Memory, context: AttentionContext): Tensor {
    return this.layers.reduce(
      (x, layer, i) => layer.forward(x, i, memory, context),
      this.placed(embedded, start),
    );
  }
}
