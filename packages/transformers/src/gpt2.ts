import { type Generator, nn, type Tensor, tanhGelu } from '@hidden-schema/torch';
import { ConfiguredDecoder, kindOf, Making, type MakingOptions } from './decoder-architecture.ts';
import {
  type Gpt2Config,
  type Gpt2Settings,
  gpt2Claims,
  gpt2ConfigSchema,
  symbolsOf,
} from './decoder-config.ts';
import type { ScratchSizes } from './decoder-kind.ts';
import { checkedConfig } from './model-folder.ts';
import type { Projection } from './projection.ts';
import {
  type AttentionContext,
  attendWithSymbols,
  type SchemaInput,
  type SymbolAttention,
} from './symbol-attention.ts';

// Shapes: B sentences, T tokens, D width. Fields carry the names of Hugging Face's checkpoints.

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
    this.c_attn = making.projection(width, 3 * width, plain);
    this.c_proj = making.projection(width, width, residual);
    this.dropout = new nn.Dropout(config.attn_pdrop, making.generator);
    this.psa = making.layerSymbols({ width, keyWidth: width });
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
    this.c_fc = making.projection(config.n_embd, inner, plain);
    this.c_proj = making.projection(inner, config.n_embd, residual);
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
  readonly wte: nn.Embedding;
  readonly wpe: nn.Embedding;
  readonly h: Gpt2Block[];
  readonly ln_f: nn.LayerNorm;
  readonly schema: SchemaInput | undefined;
  readonly dropout: nn.Dropout;

  constructor(config: Gpt2Config, making: Making) {
    super();
    const width = config.n_embd;
    this.wte = making.table(config.vocab_size, width);
    this.wpe = making.table(config.n_positions, width);
    this.h = Array.from({ length: config.n_layer }, () => new Gpt2Block(config, making));
    this.ln_f = new nn.LayerNorm(width, { ...making.tensors, epsilon: config.layer_norm_epsilon });
    this.dropout = new nn.Dropout(config.embd_pdrop, making.generator);
    this.schema = making.sharedSymbols(width);
  }
}

/** GPT-2 with pseudo-self-attention on a schema. */
export class Gpt2Decoder extends ConfiguredDecoder<Gpt2Config> {
  static readonly schema = gpt2ConfigSchema;
  static readonly claims = gpt2Claims;
  readonly transformer: Gpt2Body;
  readonly adapterTargets = ['c_attn'] as const;

  /** From scratch with GPT-2's initialisation; `blank` leaves zeros for weights to come. */
  constructor(settings: Gpt2Settings, generator: Generator, options: MakingOptions = {}) {
    const config = checkedConfig(gpt2ConfigSchema, settings, 'GPT-2 settings');
    const { initializer_range: deviation, n_layer: layers, n_embd: width, vocab_size: vocabulary } = config;
    const making = new Making({ deviation, layers, symbols: config.hsn }, generator, options);
    const sizes = { vocabulary, positions: config.n_positions, keyWidth: width };
    super('GPT2LMHeadModel', { ...config, hsn: symbolsOf(making.symbols) }, sizes);
    this.transformer = new Gpt2Body(config, making);
    if (!config.tie_word_embeddings)
      this.lm_head = making.projection(width, vocabulary, { layout: 'out-in', bias: false });
  }

  /** Settings of a decoder from scratch. */
  static scratch({ vocabulary, positions, width, layers, heads, dropout }: ScratchSizes): Gpt2Settings {
    const sizes = { n_embd: width, n_layer: layers, n_head: heads, n_positions: positions };
    const drops = { attn_pdrop: dropout, embd_pdrop: dropout, resid_pdrop: dropout };
    return { ...sizes, ...drops, vocab_size: vocabulary };
  }

  /** The names here of stored tensors. */
  static renamedFor({ tie_word_embeddings: tied }: Gpt2Config): (stored: string) => string | undefined {
    return (stored) => {
      // Older checkpoints store the causal mask beside the weights; a tied output is the embedding again.
      if (/\.attn\.(masked_)?bias$/.test(stored)) return undefined;
      if (stored === 'lm_head.weight') return tied ? undefined : stored;
      return stored.startsWith('transformer.') ? stored : `transformer.${stored}`;
    };
  }

  protected get inputs() {
    return { table: this.transformer.wte, schema: this.transformer.schema };
  }

  protected through(embedded: Tensor, start: number, context: AttentionContext): Tensor {
    const { wpe, h, ln_f, dropout } = this.transformer;
    const placed = embedded.add(wpe.weight.narrow(0, start, embedded.dim(1)));
    const states = h.reduce((x, block, layer) => block.forward(x, layer, context), dropout.forward(placed));
    return ln_f.forward(states);
  }
}

export const gpt2Kind = kindOf(Gpt2Decoder);
