import { type Generator, nn, type Tensor, tanhGelu } from '@hidden-schema/torch';
import { z } from 'zod';
import { type DecoderArchitecture, kindOf, openFolder } from './decoder-architecture.ts';
import { gpt2Claims } from './decoder-claims.ts';
import type { DecoderOptions } from './decoder-kind.ts';
import { type Making, type MakingOptions, makingOf, project } from './decoder-making.ts';
import { LanguageDecoder } from './language-decoder.ts';
import { checkedConfig, symbolsOf, symbolsSchema } from './model-folder.ts';
import { type Projection, Table } from './projection.ts';
import {
  type AttentionContext,
  attendsTo,
  attendWithSymbols,
  SchemaInput,
  SymbolAttention,
} from './symbol-attention.ts';

// Shapes: B sentences, T tokens, D width. Fields carry the names of Hugging Face's checkpoints.

const count = z.int().positive();
const dropout = z.number().min(0).lt(1).default(0.1);

/** The parts of Hugging Face's config.json that this GPT-2 depends on; what it cannot do is refused. */
export const gpt2ConfigSchema = z
  .object({
    model_type: z.literal('gpt2').default('gpt2'),
    vocab_size: count.default(50257),
    n_positions: count.default(1024),
    n_embd: count.default(768),
    n_layer: count.default(12),
    n_head: count.default(12),
    n_inner: count.nullish().transform((width) => width ?? null),
    activation_function: z.enum(['gelu_new', 'gelu_pytorch_tanh']).default('gelu_new'),
    layer_norm_epsilon: z.number().positive().default(1e-5),
    initializer_range: z.number().positive().default(0.02),
    attn_pdrop: dropout,
    embd_pdrop: dropout,
    resid_pdrop: dropout,
    scale_attn_weights: z.literal(true).default(true),
    scale_attn_by_inverse_layer_idx: z.literal(false).default(false),
    add_cross_attention: z.literal(false).default(false),
    tie_word_embeddings: z.boolean().default(true),
    bos_token_id: z.int().nonnegative().nullish(),
    eos_token_id: z.int().nonnegative().nullish(),
    hsn: symbolsSchema.optional(),
  })
  .refine(({ n_embd, n_head }) => n_embd % n_head === 0, { error: 'n_embd must divide into n_head heads' });

export type Gpt2Config = z.output<typeof gpt2ConfigSchema>;
export type Gpt2Settings = z.input<typeof gpt2ConfigSchema>;

const plain = { layout: 'in-out', bias: true } as const;
const residual = { ...plain, residual: true } as const;

class Gpt2Attention extends nn.Module {
  readonly c_attn: Projection;
  readonly c_proj: Projection;
  readonly psa: SymbolAttention | undefined;
  readonly #heads: number;
  readonly dropout: nn.Dropout;

  constructor(config: Gpt2Config, making: Making) {
    super();
    const width = config.n_embd;
    this.#heads = config.n_head;
    this.c_attn = project(width, 3 * width, plain, making);
    this.c_proj = project(width, width, residual, making);
    this.dropout = new nn.Dropout(config.attn_pdrop, making.generator);
    const { symbols, generator, tensors } = making;
    if (attendsTo(symbols))
      this.psa = new SymbolAttention(symbols, { width, keyWidth: width }, generator, tensors);
  }

  forward(x: Tensor, layer: number, context: AttentionContext): Tensor {
    const parts = this.c_attn.forward(x).chunk(3, -1);
    const [query, key, value] = parts.map((part) => nn.splitHeads(part, this.#heads));
    const token = { key: key!, value: value! };
    const mixed = attendWithSymbols(
      { layer, query: query!, token, psa: this.psa, dropout: this.dropout },
      context,
    );
    return this.c_proj.forward(mixed);
  }
}

class Gpt2Mlp extends nn.Module {
  readonly c_fc: Projection;
  readonly c_proj: Projection;

  constructor(config: Gpt2Config, making: Making) {
    super();
    const inner = config.n_inner ?? 4 * config.n_embd;
    this.c_fc = project(config.n_embd, inner, plain, making);
    this.c_proj = project(inner, config.n_embd, residual, making);
  }

  forward(x: Tensor): Tensor {
    return this.c_proj.forward(tanhGelu(this.c_fc.forward(x)));
  }
}

class Gpt2Block extends nn.Module {
  readonly ln_1: nn.LayerNorm;
  readonly attn: Gpt2Attention;
  readonly ln_2: nn.LayerNorm;
  readonly mlp: Gpt2Mlp;
  readonly dropout: nn.Dropout;

  constructor(config: Gpt2Config, making: Making) {
    super();
    const norm = { ...making.tensors, epsilon: config.layer_norm_epsilon };
    this.ln_1 = new nn.LayerNorm(config.n_embd, norm);
    this.attn = new Gpt2Attention(config, making);
    this.ln_2 = new nn.LayerNorm(config.n_embd, norm);
    this.mlp = new Gpt2Mlp(config, making);
    this.dropout = new nn.Dropout(config.resid_pdrop, making.generator);
  }

  forward(x: Tensor, layer: number, context: AttentionContext): Tensor {
    const attended = this.dropout.onto(x, this.attn.forward(this.ln_1.forward(x), layer, context));
    return this.dropout.onto(attended, this.mlp.forward(this.ln_2.forward(attended)));
  }
}

class Gpt2Body extends nn.Module {
  readonly wte: Table;
  readonly wpe: Table;
  readonly h: Gpt2Block[];
  readonly ln_f: nn.LayerNorm;
  readonly schema: SchemaInput | undefined;
  readonly dropout: nn.Dropout;

  constructor(config: Gpt2Config, making: Making) {
    super();
    const { generator, tensors, symbols, deviation } = making;
    const width = config.n_embd;
    const table = { ...tensors, deviation };
    this.wte = new Table(config.vocab_size, width, generator, table);
    this.wpe = new Table(config.n_positions, width, generator, table);
    this.h = Array.from({ length: config.n_layer }, () => new Gpt2Block(config, making));
    this.ln_f = new nn.LayerNorm(width, { ...tensors, epsilon: config.layer_norm_epsilon });
    this.dropout = new nn.Dropout(config.embd_pdrop, generator);
    if (symbols) this.schema = new SchemaInput(symbols, width, generator, tensors);
  }
}

/** The name here of a stored tensor. */
function renamedFor({ tie_word_embeddings: tied }: Gpt2Config): (stored: string) => string | undefined {
  return (stored) => {
    // Older checkpoints store the causal mask beside the weights; a tied output is the embedding again.
    if (/\.attn\.(masked_)?bias$/.test(stored)) return undefined;
    if (stored === 'lm_head.weight') return tied ? undefined : stored;
    return stored.startsWith('transformer.') ? stored : `transformer.${stored}`;
  };
}

/** GPT-2 with pseudo-self-attention on a schema. */
export class Gpt2Decoder extends LanguageDecoder {
  readonly transformer: Gpt2Body;
  readonly lm_head: Projection | undefined;
  readonly config: Gpt2Config;
  readonly vocabularySize: number;
  readonly maxPositions: number;
  readonly adapterTargets = ['c_attn'] as const;
  protected readonly keyWidth: number;

  /** From scratch with GPT-2's initialisation; `blank` leaves zeros for weights to come. */
  constructor(settings: Gpt2Settings, generator: Generator, options: MakingOptions = {}) {
    super();
    const config = checkedConfig(gpt2ConfigSchema, settings, 'GPT-2 settings');
    const start = { deviation: config.initializer_range, layers: config.n_layer, symbols: config.hsn };
    const making = makingOf(start, generator, options);
    this.config = { ...config, hsn: symbolsOf(making.symbols) };
    this.transformer = new Gpt2Body(config, making);
    if (!config.tie_word_embeddings) {
      const head = { layout: 'out-in', bias: false } as const;
      this.lm_head = project(config.n_embd, config.vocab_size, head, making);
    }
    this.vocabularySize = config.vocab_size;
    this.maxPositions = config.n_positions;
    this.keyWidth = config.n_embd;
  }

  /** From a folder in Hugging Face's layout: config.json and safetensors. */
  static open(folder: string, generator: Generator, options: DecoderOptions = {}): Gpt2Decoder {
    return openFolder(gpt2, folder, generator, options);
  }

  configOf(): Record<string, unknown> {
    return { architectures: ['GPT2LMHeadModel'], ...this.config };
  }

  protected get output(): Tensor {
    return this.lm_head?.weight ?? this.transformer.wte.weight;
  }

  protected get symbolInput(): SchemaInput | undefined {
    return this.transformer.schema;
  }

  protected embed(tokens: Tensor): Tensor {
    return this.transformer.wte.forward(tokens);
  }

  protected through(embedded: Tensor, start: number, context: AttentionContext): Tensor {
    const { wpe, h, ln_f, dropout } = this.transformer;
    const placed = embedded.add(wpe.weight.narrow(0, start, embedded.dim(1)));
    const states = h.reduce((x, block, layer) => block.forward(x, layer, context), dropout.forward(placed));
    return ln_f.forward(states);
  }
}

const gpt2: DecoderArchitecture<Gpt2Settings, Gpt2Config, Gpt2Decoder> = {
  schema: gpt2ConfigSchema,
  Decoder: Gpt2Decoder,
  settings: ({ vocabulary, positions, width, layers, heads, dropout }) => {
    const sizes = { n_embd: width, n_layer: layers, n_head: heads, n_positions: positions };
    const drops = { attn_pdrop: dropout, embd_pdrop: dropout, resid_pdrop: dropout };
    return { ...sizes, ...drops, vocab_size: vocabulary };
  },
  claims: gpt2Claims,
  renamedFor,
};

export const gpt2Kind = kindOf(gpt2);
