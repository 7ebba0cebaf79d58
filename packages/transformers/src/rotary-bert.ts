import { UserError } from '@hidden-schema/base';
import { arange, call, Generator, nn, scope, type Tensor, type TensorOptions } from '@hidden-schema/torch';
import { z } from 'zod';
import type { Claim } from './model-folder.ts';
import { checkedConfig, claim, folderConfig, openEncoder, readModelConfig } from './model-folder.ts';
import { RotaryPositions, rotate } from './rotary.ts';
import { checkLength, paddingMask, type TextEncoder } from './text-encoder.ts';

const theta = z.looseObject({
  rope_theta: z.number().positive(),
  rope_type: z.literal('default').optional(),
});
const sizes = {
  vocab_size: z.int().positive(),
  hidden_size: z.int().positive(),
  num_hidden_layers: z.int().positive(),
  num_attention_heads: z.int().positive(),
  intermediate_size: z.int().positive(),
  max_position_embeddings: z.int().positive(),
  pad_token_id: z.int().min(0).nullish(),
};
const none = z.literal(false).default(false);

/** What decides the shape and arithmetic of a ModernBERT. */
const modernSchema = z.looseObject({
  ...sizes,
  model_type: z.literal('modernbert'),
  hidden_activation: z.literal('gelu').default('gelu'),
  norm_eps: z.number().positive().default(1e-5),
  local_attention: z.int().positive().default(128),
  layer_types: z.array(z.enum(['full_attention', 'sliding_attention'])).optional(),
  global_attn_every_n_layers: z.int().positive().default(3),
  rope_parameters: z.looseObject({ full_attention: theta, sliding_attention: theta }).optional(),
  global_rope_theta: z.number().positive().default(160_000),
  local_rope_theta: z.number().positive().nullish(),
  ...{ attention_bias: none, mlp_bias: none, norm_bias: none },
});

/** The same of a Nomic-BERT, by the names that transformers has for them. */
const nomicSchema = z.looseObject({
  ...sizes,
  model_type: z.literal('nomic_bert'),
  type_vocab_size: z.int().positive().default(2),
  hidden_act: z.enum(['silu', 'swiglu']).default('silu'),
  layer_norm_eps: z.number().positive().default(1e-12),
  rope_parameters: theta.optional(),
  rotary_emb_base: z.number().positive().default(1000),
  rotary_emb_fraction: z.literal(1).default(1),
  ...{ rotary_emb_interleaved: none, prenorm: none, parallel_block: none },
  ...{ qkv_proj_bias: none, mlp_fc1_bias: none, mlp_fc2_bias: none },
});

/** Names that the first Nomic-BERTs have in their config.json for what transformers calls otherwise. */
const olderNames: Readonly<Record<string, string>> = {
  n_embd: 'hidden_size',
  n_head: 'num_attention_heads',
  n_layer: 'num_hidden_layers',
  n_inner: 'intermediate_size',
  n_positions: 'max_position_embeddings',
  layer_norm_epsilon: 'layer_norm_eps',
  activation_function: 'hidden_act',
};

/** An encoder with rotary positions and gated layers, whichever of the two it is. */
export interface RotaryConfig extends z.output<z.ZodObject<typeof sizes>> {
  readonly kind: 'modernbert' | 'nomic_bert';
  readonly epsilon: number;
  /** Types of tokens; a ModernBERT has none. */
  readonly types: number;
  /** For each layer the base of its angles, and how far it sees to either side where it does not see all. */
  readonly layers: readonly { readonly theta: number; readonly reach?: number }[];
}

/** The settings of a ModernBERT or a Nomic-BERT from the config.json of its folder, checked. */
export function readRotaryConfig(folder: string): RotaryConfig {
  const stored = readModelConfig(folder);
  if (stored.model_type === 'modernbert') return modernConfig(folderConfig(modernSchema, folder));
  const named = Object.entries(stored).map(([key, value]) => [olderNames[key] ?? key, value] as const);
  return nomicConfig(checkedConfig(nomicSchema, Object.fromEntries(named), `${folder}/config.json`));
}

function modernConfig(config: z.output<typeof modernSchema>): RotaryConfig {
  const { rope_parameters: angles, global_rope_theta: global, local_rope_theta: local } = config;
  const full = { theta: angles?.full_attention.rope_theta ?? global };
  const reach = Math.floor(config.local_attention / 2);
  const near = { theta: angles?.sliding_attention.rope_theta ?? local ?? 10_000, reach };
  const every = config.global_attn_every_n_layers;
  const layers = Array.from({ length: config.num_hidden_layers }, (_, at) => {
    const sliding = config.layer_types ? config.layer_types[at] === 'sliding_attention' : at % every !== 0;
    return sliding ? near : full;
  });
  return { ...config, kind: 'modernbert', epsilon: config.norm_eps, types: 0, layers };
}

function nomicConfig(config: z.output<typeof nomicSchema>): RotaryConfig {
  const layer = { theta: config.rope_parameters?.rope_theta ?? config.rotary_emb_base };
  // Beyond the positions that it was trained on, its angles would have to be scaled.
  const trained = z.int().positive().safeParse(config.max_trained_positions).data;
  return {
    ...config,
    kind: 'nomic_bert',
    max_position_embeddings: Math.min(config.max_position_embeddings, trained ?? Number.POSITIVE_INFINITY),
    epsilon: config.layer_norm_eps,
    types: config.type_vocab_size,
    layers: new Array<typeof layer>(config.num_hidden_layers).fill(layer),
  };
}

// Shapes: B sentences, T tokens, D width.

type Parts = { config: RotaryConfig; generator: Generator; options: TensorOptions };

/** A norm that scales, and shifts where the architecture has a bias. */
class Norm extends nn.Module {
  readonly weight: Tensor;
  readonly bias: Tensor | undefined;
  readonly #epsilon: number;

  constructor({ config, options }: Parts) {
    super();
    const made = new nn.LayerNorm(config.hidden_size, options);
    this.weight = made.weight;
    if (config.kind === 'nomic_bert') this.bias = made.bias;
    else made.bias.free();
    this.#epsilon = config.epsilon;
  }

  forward(x: Tensor): Tensor {
    return call('layer_norm', x, this.weight.shape, this.weight, this.bias, this.#epsilon);
  }
}

class Attention extends nn.Module {
  readonly Wqkv: nn.Linear;
  readonly Wo: nn.Linear;
  readonly #heads: number;

  constructor(parts: Parts) {
    super();
    const { hidden_size: width, num_attention_heads: heads } = parts.config;
    this.Wqkv = dense(width, 3 * width, parts);
    this.Wo = dense(width, width, parts);
    this.#heads = heads;
  }

  forward(x: Tensor, angles: Parameters<typeof rotate>[1], mask: Tensor): Tensor {
    const [query, key, value] = this.Wqkv.forward(x)
      .chunk(3, -1)
      .map((part) => nn.splitHeads(part, this.#heads)) as [Tensor, Tensor, Tensor];
    const attended = nn.attend(rotate(query, angles), rotate(key, angles), value, { mask });
    return this.Wo.forward(nn.joinHeads(attended));
  }
}

/** Wo(activation(a) ∘ b): a and b are the halves of one product in a ModernBERT, two products in a Nomic-BERT. */
class Gated extends nn.Module {
  readonly Wi: nn.Linear | undefined;
  readonly fc11: nn.Linear | undefined;
  readonly fc12: nn.Linear | undefined;
  readonly Wo: nn.Linear;

  constructor(parts: Parts) {
    super();
    const { hidden_size: width, intermediate_size: inner, kind } = parts.config;
    if (kind === 'modernbert') this.Wi = dense(width, 2 * inner, parts);
    else {
      this.fc11 = dense(width, inner, parts);
      this.fc12 = dense(width, inner, parts);
    }
    this.Wo = dense(inner, width, parts);
  }

  forward(x: Tensor): Tensor {
    if (!this.Wi) return this.Wo.forward(this.fc12!.forward(x).silu().mul(this.fc11!.forward(x)));
    const [active, plain] = this.Wi.forward(x).chunk(2, -1);
    return this.Wo.forward(active!.gelu().mul(plain!));
  }
}

class Layer extends nn.Module {
  readonly attn: Attention;
  readonly mlp: Gated;
  /** Before attention in a ModernBERT, whose first layer has none; after it in a Nomic-BERT. */
  readonly norm1: Norm | undefined;
  readonly norm2: Norm;
  readonly #before: boolean;

  constructor(at: number, parts: Parts) {
    super();
    this.#before = parts.config.kind === 'modernbert';
    this.attn = new Attention(parts);
    this.mlp = new Gated(parts);
    if (at > 0 || !this.#before) this.norm1 = new Norm(parts);
    this.norm2 = new Norm(parts);
  }

  forward(x: Tensor, angles: Parameters<typeof rotate>[1], mask: Tensor): Tensor {
    if (this.#before) {
      const attended = x.add(this.attn.forward(this.norm1?.forward(x) ?? x, angles, mask));
      return attended.add(this.mlp.forward(this.norm2.forward(attended)));
    }
    const attended = this.norm1!.forward(x.add(this.attn.forward(x, angles, mask)));
    return this.norm2.forward(attended.add(this.mlp.forward(attended)));
  }
}

/** ModernBERT (Warner et al., 2024) or Nomic-BERT (Nussbaum et al., 2024): rotary positions and gated layers. */
export class RotaryEncoder extends nn.Module implements TextEncoder {
  readonly config: RotaryConfig;
  readonly width: number;
  readonly vocabulary: number;
  readonly positions: number;
  readonly tokenTable = { name: 'words.weight' };
  readonly words: nn.Embedding;
  readonly types: nn.Embedding | undefined;
  readonly inputNorm: Norm;
  readonly layers: Layer[];
  readonly outputNorm: Norm | undefined;
  readonly #angles = new Map<number, RotaryPositions>();

  constructor(config: RotaryConfig, generator: Generator, options: TensorOptions = {}) {
    super();
    const { hidden_size: width, num_attention_heads: heads, kind } = config;
    if (width % heads !== 0 || (width / heads) % 2 !== 0)
      throw new UserError(`hidden_size ${width} does not divide into ${heads} heads of an even width`);
    this.config = config;
    this.width = width;
    this.vocabulary = config.vocab_size;
    this.positions = config.max_position_embeddings;
    const parts = { config, generator, options };
    this.words = new nn.Embedding(config.vocab_size, width, generator, options);
    if (config.types > 0) this.types = new nn.Embedding(config.types, width, generator, options);
    this.inputNorm = new Norm(parts);
    this.layers = config.layers.map((_, at) => new Layer(at, parts));
    if (kind === 'modernbert') this.outputNorm = new Norm(parts);
    for (const { theta } of config.layers) this.#angles.set(theta, new RotaryPositions(width / heads, theta));
  }

  hidden(ids: Tensor, mask: Tensor): Tensor {
    const length = ids.dim(1);
    checkLength(ids, this.positions);
    const full = paddingMask(mask);
    const words = this.words.forward(ids);
    const typed = this.types ? words.add(this.types.weight.select(0, 0)) : words;
    const states = this.layers.reduce(
      (x, layer, at) =>
        scope(() => {
          const { theta, reach } = this.config.layers[at]!;
          const seen = reach === undefined || reach >= length ? full : full.add(farMask(length, reach));
          return layer.forward(x, this.#angles.get(theta)!.at(0, length, x), seen);
        }),
      this.inputNorm.forward(typed),
    );
    return this.outputNorm?.forward(states) ?? states;
  }
}

/** 0 for tokens at most so far apart, very low for others. [1, 1, T, T] */
function farMask(length: number, reach: number): Tensor {
  const places = arange(length);
  const apart = places.unsqueeze(0).sub(places.unsqueeze(1)).abs();
  return apart.gt(reach).to('float32').mul(-1e9).unsqueeze(0).unsqueeze(0);
}

const dense = (inputs: number, outputs: number, { generator, options }: Parts): nn.Linear =>
  new nn.Linear(inputs, outputs, generator, { ...options, bias: false });

/** The name here of a stored tensor; nothing for heads, which are not used. */
function rotaryName(stored: string): string | undefined {
  const name = stored
    .replace(/^(?:(?:model|bert|nomic_bert|0\.auto_model)\.)?(?:encoder\.)?/, '')
    .replace(/^embeddings\.(?:tok_embeddings|word_embeddings)\./, 'words.')
    .replace(/^embeddings\.token_type_embeddings\./, 'types.')
    .replace(/^(?:embeddings\.norm|emb_ln)\./, 'inputNorm.')
    .replace(/^final_norm\./, 'outputNorm.')
    .replace('.attn_norm.', '.norm1.')
    .replace('.mlp_norm.', '.norm2.')
    .replace('.attn.out_proj.', '.attn.Wo.')
    .replace('.mlp.fc2.', '.mlp.Wo.');
  return /^(?:words|types|inputNorm|outputNorm|layers)\./.test(name) ? name : undefined;
}

function rotaryClaims(config: RotaryConfig): Claim[] {
  const { layers, vocab_size, hidden_size, intermediate_size: inner } = config;
  return [
    claim('num_hidden_layers', layers.length, /^layers\.(\d+)\./),
    claim('vocab_size', vocab_size, /^words\.weight$/, 0),
    claim('hidden_size', hidden_size, /^words\.weight$/, 1),
    config.kind === 'modernbert'
      ? claim('2 × intermediate_size', 2 * inner, /^layers\.0\.mlp\.Wi\.weight$/, 0)
      : claim('intermediate_size', inner, /^layers\.0\.mlp\.fc11\.weight$/, 0),
  ];
}

/** A trained ModernBERT or Nomic-BERT from a Hugging Face folder of safetensors. */
export function openRotary(folder: string, options: TensorOptions = {}): RotaryEncoder {
  const config = readRotaryConfig(folder);
  const make = () => new RotaryEncoder(config, new Generator(0), options);
  return openEncoder(folder, make, { claims: rotaryClaims(config), rename: rotaryName });
}
