import { type Generator, nn, ones, type Tensor, type TensorOptions } from '@hidden-schema/torch';
import { type DecoderArchitecture, kindOf, openFolder } from './decoder-architecture.ts';
import { llamaClaims } from './decoder-claims.ts';
import type { DecoderOptions } from './decoder-kind.ts';
import { type Making, type MakingOptions, makingOf, project } from './decoder-making.ts';
import { LanguageDecoder } from './language-decoder.ts';
import { type LlamaConfig, type LlamaSettings, llamaConfigSchema } from './llama-config.ts';
import { checkedConfig, symbolsOf } from './model-folder.ts';
import { type Projection, Table } from './projection.ts';
import { RotaryPositions, rotate } from './rotary.ts';
import {
  type AttentionContext,
  attendsTo,
  attendWithSymbols,
  SchemaInput,
  SymbolAttention,
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
    this.q_proj = project(width, this.#heads * head_dim, kind, making);
    this.k_proj = project(width, keyWidth, kind, making);
    this.v_proj = project(width, keyWidth, kind, making);
    this.o_proj = project(this.#heads * head_dim, width, { ...kind, residual: true }, making);
    this.dropout = new nn.Dropout(config.attention_dropout, making.generator);
    const { symbols, generator, tensors } = making;
    if (attendsTo(symbols)) this.psa = new SymbolAttention(symbols, { width, keyWidth }, generator, tensors);
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
    this.gate_proj = project(width, inner, kind, making);
    this.up_proj = project(width, inner, kind, making);
    this.down_proj = project(inner, width, { ...kind, residual: true }, making);
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
  readonly embed_tokens: Table;
  readonly layers: LlamaBlock[];
  readonly norm: RmsNorm;
  readonly schema: SchemaInput | undefined;

  constructor(config: LlamaConfig, making: Making) {
    super();
    const { generator, tensors, symbols, deviation } = making;
    this.embed_tokens = new Table(config.vocab_size, config.hidden_size, generator, {
      ...tensors,
      deviation,
    });
    this.layers = Array.from({ length: config.num_hidden_layers }, () => new LlamaBlock(config, making));
    this.norm = new RmsNorm(config.hidden_size, config.rms_norm_eps, tensors);
    if (symbols) this.schema = new SchemaInput(symbols, config.hidden_size, generator, tensors);
  }
}

/** The name here of a stored tensor. */
function renamedFor({ tie_word_embeddings: tied }: LlamaConfig): (stored: string) => string | undefined {
  return (stored) => {
    if (stored.endsWith('.rotary_emb.inv_freq')) return undefined;
    if (stored === 'lm_head.weight') return tied ? undefined : stored;
    return stored.startsWith('model.') || stored.startsWith('lm_head.') ? stored : `model.${stored}`;
  };
}

/** A decoder of the LLaMA architecture with pseudo-self-attention on a schema. */
export class LlamaDecoder extends LanguageDecoder {
  readonly model: LlamaBody;
  readonly lm_head: Projection | undefined;
  readonly config: LlamaConfig;
  readonly vocabularySize: number;
  readonly maxPositions: number;
  readonly adapterTargets = ['q_proj', 'v_proj'] as const;
  protected readonly keyWidth: number;
  readonly #positions: RotaryPositions;

  /** From scratch; `blank` leaves zeros for weights to come. */
  constructor(settings: LlamaSettings, generator: Generator, options: MakingOptions = {}) {
    super();
    const config = checkedConfig(llamaConfigSchema, settings, 'LLaMA settings');
    const { initializer_range: deviation, num_hidden_layers: layers, hsn: symbols } = config;
    const making = makingOf({ deviation, layers, symbols }, generator, options);
    this.config = { ...config, hsn: symbolsOf(making.symbols) };
    this.model = new LlamaBody(config, making);
    if (!config.tie_word_embeddings) {
      const head = { layout: 'out-in', bias: false } as const;
      this.lm_head = project(config.hidden_size, config.vocab_size, head, making);
    }
    this.vocabularySize = config.vocab_size;
    this.maxPositions = config.max_position_embeddings;
    this.keyWidth = config.num_key_value_heads * config.head_dim;
    this.#positions = new RotaryPositions(config.head_dim, config.rope_theta);
  }

  /** From a folder in Hugging Face's layout: config.json and safetensors. */
  static open(folder: string, generator: Generator, options: DecoderOptions = {}): LlamaDecoder {
    return openFolder(llama, folder, generator, options);
  }

  configOf(): Record<string, unknown> {
    return { architectures: ['LlamaForCausalLM'], ...this.config };
  }

  protected get output(): Tensor {
    return this.lm_head?.weight ?? this.model.embed_tokens.weight;
  }

  protected get symbolInput(): SchemaInput | undefined {
    return this.model.schema;
  }

  protected embed(tokens: Tensor): Tensor {
    return this.model.embed_tokens.forward(tokens);
  }

  protected through(embedded: Tensor, start: number, context: AttentionContext): Tensor {
    const angles = this.#positions.at(start, embedded.dim(1), embedded);
    const { layers, norm } = this.model;
    return norm.forward(layers.reduce((x, block, i) => block.forward(x, i, angles, context), embedded));
  }
}

const llama: DecoderArchitecture<LlamaSettings, LlamaConfig, LlamaDecoder> = {
  schema: llamaConfigSchema,
  Decoder: LlamaDecoder,
  settings: ({ vocabulary, positions, width, layers, heads }) => {
    const sizes = { hidden_size: width, num_hidden_layers: layers, num_attention_heads: heads };
    const rest = { intermediate_size: 4 * width, max_position_embeddings: positions };
    return { ...sizes, ...rest, vocab_size: vocabulary };
  },
  claims: llamaClaims,
  renamedFor,
};

export const llamaKind = kindOf(llama);
