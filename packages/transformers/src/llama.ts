import { type Generator, nn, ones, type Tensor, type TensorOptions } from '@hidden-schema/torch';
import { ConfiguredDecoder, kindOf, Making, type MakingOptions } from './decoder-architecture.ts';
import {
  type LlamaConfig,
  type LlamaSettings,
  llamaClaims,
  llamaConfigSchema,
  symbolsOf,
} from './decoder-config.ts';
import type { ScratchSizes } from './decoder-kind.ts';
import { checkedConfig } from './model-folder.ts';
import type { Projection } from './projection.ts';
import { RotaryPositions, rotate } from './rotary.ts';
import {
  type AttentionContext,
  attendWithSymbols,
  type SchemaInput,
  type SymbolAttention,
} from './symbol-attention.ts';

// Shapes: B sentences, T tokens, D width, H heads of width d, G of them with keys and values of their own.
// Fields carry the names of Hugging Face's checkpoints.

type Angles = Parameters<typeof rotate>[1];

/** x / √(mean x² + ε), with a gain. */
class RmsNorm extends nn.Module {
  readonly weight: Tensor;
  readonly #epsilon: number;

  constructor(width: number, epsilon: number, tensors: TensorOptions) {
    super();
    this.weight = nn.parameter(ones([width], tensors));
    this.#epsilon = epsilon;
  }

  forward(x: Tensor): Tensor {
    const scale = x.mul(x).mean(-1, true).add(this.#epsilon).rsqrt();
    return x.mul(scale).mul(this.weight);
  }
}

class LlamaAttention extends nn.Module {
  readonly q_proj: Projection;
  readonly k_proj: Projection;
  readonly v_proj: Projection;
  readonly o_proj: Projection;
  readonly psa: SymbolAttention | undefined;
  readonly dropout: nn.Dropout;
  readonly #heads: number;
  readonly #groups: number;

  constructor(config: LlamaConfig, making: Making) {
    super();
    const { hidden_size: width, head_dim, attention_bias: bias } = config;
    const kind = { layout: 'out-in', bias } as const;
    this.#heads = config.num_attention_heads;
    this.#groups = config.num_key_value_heads;
    const keyWidth = this.#groups * head_dim;
    this.q_proj = making.projection(width, this.#heads * head_dim, kind);
    this.k_proj = making.projection(width, keyWidth, kind);
    this.v_proj = making.projection(width, keyWidth, kind);
    this.o_proj = making.projection(this.#heads * head_dim, width, { ...kind, residual: true });
    this.dropout = new nn.Dropout(config.attention_dropout, making.generator);
    this.psa = making.layerSymbols({ width, keyWidth });
  }

  /** Tokens' queries and keys are turned by their positions; symbols are not: their order is in their own encoding. */
  forward(x: Tensor, layer: number, angles: Angles, context: AttentionContext): Tensor {
    const query = rotate(nn.splitHeads(this.q_proj.forward(x), this.#heads), angles);
    const key = rotate(nn.splitHeads(this.k_proj.forward(x), this.#groups), angles);
    const value = nn.splitHeads(this.v_proj.forward(x), this.#groups);
    const parts = { layer, query, token: { key, value }, psa: this.psa, dropout: this.dropout };
    return this.o_proj.forward(attendWithSymbols(parts, context));
  }
}

/** SwiGLU: down(silu(gate(x)) ∘ up(x)) */
class LlamaMlp extends nn.Module {
  readonly gate_proj: Projection;
  readonly up_proj: Projection;
  readonly down_proj: Projection;

  constructor(config: LlamaConfig, making: Making) {
    super();
    const { hidden_size: width, intermediate_size: inner, mlp_bias: bias } = config;
    const kind = { layout: 'out-in', bias } as const;
    this.gate_proj = making.projection(width, inner, kind);
    this.up_proj = making.projection(width, inner, kind);
    this.down_proj = making.projection(inner, width, { ...kind, residual: true });
  }

  forward(x: Tensor): Tensor {
    return this.down_proj.forward(this.gate_proj.forward(x).silu().mul(this.up_proj.forward(x)));
  }
}

class LlamaBlock extends nn.Module {
  readonly input_layernorm: RmsNorm;
  readonly self_attn: LlamaAttention;
  readonly post_attention_layernorm: RmsNorm;
  readonly mlp: LlamaMlp;

  constructor(config: LlamaConfig, making: Making) {
    super();
    const norm = (): RmsNorm => new RmsNorm(config.hidden_size, config.rms_norm_eps, making.tensors);
    this.input_layernorm = norm();
    this.self_attn = new LlamaAttention(config, making);
    this.post_attention_layernorm = norm();
    this.mlp = new LlamaMlp(config, making);
  }

  forward(x: Tensor, layer: number, angles: Angles, context: AttentionContext): Tensor {
    const attended = x.add(this.self_attn.forward(this.input_layernorm.forward(x), layer, angles, context));
    return attended.add(this.mlp.forward(this.post_attention_layernorm.forward(attended)));
  }
}

class LlamaBody extends nn.Module {
  readonly embed_tokens: nn.Embedding;
  readonly layers: LlamaBlock[];
  readonly norm: RmsNorm;
  readonly schema: SchemaInput | undefined;

  constructor(config: LlamaConfig, making: Making) {
    super();
    const { hidden_size: width, num_hidden_layers: length } = config;
    this.embed_tokens = making.table(config.vocab_size, width);
    this.layers = Array.from({ length }, () => new LlamaBlock(config, making));
    this.norm = new RmsNorm(width, config.rms_norm_eps, making.tensors);
    this.schema = making.sharedSymbols(width);
  }
}

/** A decoder of the LLaMA architecture with pseudo-self-attention on a schema. */
export class LlamaDecoder extends ConfiguredDecoder<LlamaConfig> {
  static readonly schema = llamaConfigSchema;
  static readonly claims = llamaClaims;
  readonly model: LlamaBody;
  readonly adapterTargets = ['q_proj', 'v_proj'] as const;
  readonly #positions: RotaryPositions;

  /** From scratch; `blank` leaves zeros for weights to come. */
  constructor(settings: LlamaSettings, generator: Generator, options: MakingOptions = {}) {
    const config = checkedConfig(llamaConfigSchema, settings, 'LLaMA settings');
    const { initializer_range: deviation, num_hidden_layers: layers, hsn: symbols, head_dim } = config;
    const making = new Making({ deviation, layers, symbols }, generator, options);
    const { vocab_size: vocabulary, max_position_embeddings: positions } = config;
    const sizes = { vocabulary, positions, keyWidth: config.num_key_value_heads * head_dim };
    super('LlamaForCausalLM', { ...config, hsn: symbolsOf(making.symbols) }, sizes);
    this.model = new LlamaBody(config, making);
    if (!config.tie_word_embeddings)
      this.lm_head = making.projection(config.hidden_size, vocabulary, { layout: 'out-in', bias: false });
    this.#positions = new RotaryPositions(head_dim, config.rope_theta);
  }

  /** Settings of a decoder from scratch. */
  static scratch({ vocabulary, positions, width, layers, heads }: ScratchSizes): LlamaSettings {
    const sizes = { hidden_size: width, num_hidden_layers: layers, num_attention_heads: heads };
    const rest = { intermediate_size: 4 * width, max_position_embeddings: positions };
    return { ...sizes, ...rest, vocab_size: vocabulary };
  }

  /** The names here of stored tensors. */
  static renamedFor({ tie_word_embeddings: tied }: LlamaConfig): (stored: string) => string | undefined {
    return (stored) => {
      if (stored.endsWith('.rotary_emb.inv_freq')) return undefined;
      if (stored === 'lm_head.weight') return tied ? undefined : stored;
      return stored.startsWith('model.') || stored.startsWith('lm_head.') ? stored : `model.${stored}`;
    };
  }

  protected get inputs() {
    return { table: this.model.embed_tokens, schema: this.model.schema };
  }

  protected through(embedded: Tensor, start: number, context: AttentionContext): Tensor {
    const angles = this.#positions.at(start, embedded.dim(1), embedded);
    const { layers, norm } = this.model;
    return norm.forward(layers.reduce((x, block, i) => block.forward(x, i, angles, context), embedded));
  }
}

export const llamaKind = kindOf(LlamaDecoder);
