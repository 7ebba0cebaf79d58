import { UserError } from '@hidden-schema/base';
import { z } from 'zod';
import { type Claim, claim } from './model-folder.ts';
import type { SymbolOptions } from './symbol-attention.ts';

// What config.json says of each kind of decoder, and what its sizes say of the weights beside it: enough to check a
// folder or a run without the code of its decoder.

const count = z.int().positive();
const token = z.int().nonnegative().nullish();
const dropout = z.number().min(0).lt(1);

/** What config.json says of the symbols, under a key that Hugging Face's readers pass over. */
export const symbolsSchema = z.strictObject({
  symbols: z.int().positive(),
  vectors: z.boolean().optional(),
  variant: z.enum(['paper', 'authors']).default('paper'),
  positions: z.boolean().optional(),
  positionScale: z.number().nonnegative().optional(),
  steps: z.int().positive().optional(),
  reading: z.enum(['attention', 'embedding', 'both']).optional(),
});

export type SymbolRecord = z.output<typeof symbolsSchema>;

/** The settings of a decoder's symbols as config.json keeps them, defaults written out. */
export function symbolsOf(options: SymbolOptions | undefined): SymbolRecord | undefined {
  if (!options) return undefined;
  const { symbols, variant = 'paper', positions = variant === 'paper' } = options;
  const { positionScale = 1, vectors = false, reading = 'attention', steps } = options;
  return symbolsSchema.parse({
    symbols,
    ...(vectors ? { vectors } : {}),
    variant,
    positions,
    ...(positionScale === 1 ? {} : { positionScale }),
    ...(steps === undefined ? {} : { steps }),
    ...(reading === 'attention' ? {} : { reading }),
  });
}

/** The same of the symbols that a decoder's own config.json has. */
export function symbolClaims(record: SymbolRecord | undefined): Claim[] {
  if (!record) return [];
  const { symbols: value, variant, reading, steps } = record;
  if (reading !== undefined) return [claim('hsn.symbols', value, /\.into_embedding\.weight$/, 0)];
  const tensor = /\.0\..*\.psa\.k\.weight$/;
  const ofSteps = steps === undefined ? [] : [claim('hsn.steps', steps, tensor, 0)];
  return variant === 'authors'
    ? [claim('hsn.symbols', value, /\.map_symbols\.weight$/, 1), ...ofSteps]
    : [claim('hsn.symbols', value, tensor, ofSteps.length), ...ofSteps];
}

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
    attn_pdrop: dropout.default(0.1),
    embd_pdrop: dropout.default(0.1),
    resid_pdrop: dropout.default(0.1),
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

/** What the sizes of a GPT-2's settings say of its weights. */
export function gpt2Claims(config: Gpt2Config): Claim[] {
  const { n_layer, vocab_size, n_embd, n_positions, n_inner } = config;
  const table = /^transformer\.wte\.weight$/;
  const inner = /^transformer\.h\.0\.mlp\.c_fc\.weight$/;
  return [
    claim('n_layer', n_layer, /^transformer\.h\.(\d+)\./),
    claim('vocab_size', vocab_size, table, 0),
    claim('n_embd', n_embd, table, 1),
    claim('n_positions', n_positions, /^transformer\.wpe\.weight$/, 0),
    n_inner === null ? claim('4 × n_embd', 4 * n_embd, inner, 1) : claim('n_inner', n_inner, inner, 1),
  ];
}

const tokens = z.union([z.int().nonnegative(), z.array(z.int().nonnegative())]).nullish();

/** Rotary settings of the plain kind; scaled ones (longer contexts) are refused. */
const rope = z.looseObject({
  rope_type: z.literal('default', { error: 'only the default rotary positions can be read' }).optional(),
  type: z.literal('default', { error: 'only the default rotary positions can be read' }).optional(),
  rope_theta: z.number().positive().optional(),
});

/** The parts of Hugging Face's config.json that a LLaMA decoder depends on; what it cannot do is refused. */
export const llamaConfigSchema = z
  .object({
    model_type: z.literal('llama').default('llama'),
    vocab_size: count.default(32000),
    hidden_size: count,
    intermediate_size: count,
    num_hidden_layers: count,
    num_attention_heads: count,
    num_key_value_heads: count.nullish(),
    head_dim: count.nullish(),
    max_position_embeddings: count.default(2048),
    rms_norm_eps: z.number().positive().default(1e-6),
    rope_theta: z.number().positive().optional(),
    rope_scaling: rope.nullish(),
    rope_parameters: rope.nullish(),
    hidden_act: z.literal('silu').default('silu'),
    attention_bias: z.boolean().default(false),
    mlp_bias: z.boolean().default(false),
    attention_dropout: dropout.default(0),
    initializer_range: z.number().positive().default(0.02),
    tie_word_embeddings: z.boolean().default(false),
    bos_token_id: tokens,
    eos_token_id: tokens,
    hsn: symbolsSchema.optional(),
  })
  .transform(({ rope_scaling: _, rope_parameters, ...settings }) => ({
    ...settings,
    num_key_value_heads: settings.num_key_value_heads ?? settings.num_attention_heads,
    head_dim: settings.head_dim ?? settings.hidden_size / settings.num_attention_heads,
    rope_theta: settings.rope_theta ?? rope_parameters?.rope_theta ?? 10_000,
  }))
  .refine(({ head_dim }) => head_dim % 2 === 0, {
    error: 'hidden_size must divide into num_attention_heads heads of an even width',
  })
  .refine(({ num_attention_heads: all, num_key_value_heads: shared }) => all % shared === 0, {
    error: 'num_attention_heads must be a multiple of num_key_value_heads',
  });

export type LlamaConfig = z.output<typeof llamaConfigSchema>;
export type LlamaSettings = z.input<typeof llamaConfigSchema>;

/** What the sizes of a LLaMA's settings say of its weights; its positions are computed, and made when used. */
export function llamaClaims(config: LlamaConfig): Claim[] {
  const { num_attention_heads: heads, num_key_value_heads: groups, head_dim } = config;
  const table = /^model\.embed_tokens\.weight$/;
  const first = (name: string): RegExp => new RegExp(`^model\\.layers\\.0\\.${name}\\.weight$`);
  return [
    claim('num_hidden_layers', config.num_hidden_layers, /^model\.layers\.(\d+)\./),
    claim('vocab_size', config.vocab_size, table, 0),
    claim('hidden_size', config.hidden_size, table, 1),
    claim('num_attention_heads × head_dim', heads * head_dim, first('self_attn.q_proj'), 0),
    claim('num_key_value_heads × head_dim', groups * head_dim, first('self_attn.k_proj'), 0),
    claim('intermediate_size', config.intermediate_size, first('mlp.gate_proj'), 0),
  ];
}

/** The settings of a recurrent decoder. */
export const recurrentConfigSchema = z.object({
  model_type: z.literal('lstm').default('lstm'),
  vocab_size: count,
  hidden_size: count,
  num_layers: count.default(1),
  max_position_embeddings: count.default(1024),
  dropout: dropout.default(0.1),
  hsn: symbolsSchema.optional(),
});

export type RecurrentSettings = z.input<typeof recurrentConfigSchema>;
export type RecurrentConfig = z.output<typeof recurrentConfigSchema>;

/** What the sizes of an LSTM's settings say of its weights: a layer has four tensors. */
export function recurrentClaims({ vocab_size, hidden_size, num_layers }: RecurrentConfig): Claim[] {
  const table = /^wte\.weight$/;
  return [
    claim('vocab_size', vocab_size, table, 0),
    claim('hidden_size', hidden_size, table, 1),
    claim('4 × num_layers', 4 * num_layers, /^lstm\.weights\.(\d+)$/),
  ];
}

/** The parts of Hugging Face's config.json that a BART depends on; what it cannot do is refused. */
export const bartConfigSchema = z
  .object({
    model_type: z.literal('bart').default('bart'),
    vocab_size: count.default(50265),
    d_model: count,
    encoder_layers: count,
    decoder_layers: count,
    encoder_attention_heads: count,
    decoder_attention_heads: count,
    encoder_ffn_dim: count,
    decoder_ffn_dim: count,
    max_position_embeddings: count.default(1024),
    activation_function: z.literal('gelu').default('gelu'),
    dropout: dropout.default(0.1),
    attention_dropout: dropout.default(0),
    activation_dropout: dropout.default(0),
    init_std: z.number().positive().default(0.02),
    scale_embedding: z.boolean().default(false),
    tie_word_embeddings: z.literal(true).default(true),
    bos_token_id: token,
    eos_token_id: token,
    pad_token_id: token,
    decoder_start_token_id: token,
    hsn: symbolsSchema
      .optional()
      .refine((symbols) => symbols === undefined, { error: 'a BART takes no symbols' }),
  })
  .refine((c) => c.d_model % c.encoder_attention_heads === 0 && c.d_model % c.decoder_attention_heads === 0, {
    error: 'd_model must divide into the heads of both sides',
  });

export type BartConfig = z.output<typeof bartConfigSchema>;
export type BartSettings = z.input<typeof bartConfigSchema>;

/** The first rows of the positions' tables stand for nothing. */
export const positionOffset = 2;

/** What the sizes of a BART's settings say of its weights. */
export function bartClaims(config: BartConfig): Claim[] {
  const table = /^model\.shared\.weight$/;
  const of = (name: string) => new RegExp(`^model\\.${name}`);
  const rows = config.max_position_embeddings + positionOffset;
  const side = (name: 'encoder' | 'decoder') => [
    claim(`${name}_layers`, config[`${name}_layers`], of(`${name}\\.layers\\.(\\d+)\\.`)),
    claim(`${name}_ffn_dim`, config[`${name}_ffn_dim`], of(`${name}\\.layers\\.0\\.fc1\\.weight$`), 0),
    claim(`max_position_embeddings + ${positionOffset}`, rows, of(`${name}\\.embed_positions\\.weight$`), 0),
  ];
  return [
    claim('vocab_size', config.vocab_size, table, 0),
    claim('d_model', config.d_model, table, 1),
    ...side('encoder'),
    ...side('decoder'),
  ];
}

/** Every kind of decoder by the name that settings and config.json's `model_type` give it. */
const kinds = {
  gpt2: [gpt2ConfigSchema, gpt2Claims],
  llama: [llamaConfigSchema, llamaClaims],
  lstm: [recurrentConfigSchema, recurrentClaims],
  bart: [bartConfigSchema, bartClaims],
} as const;

export type DecoderName = keyof typeof kinds;

/** Whether a decoder's name stands for an architecture instead of weights. */
export const isDecoderName = (name: string): name is DecoderName => Object.hasOwn(kinds, name);

/** The kind that a config.json names; GPT-2's where it names none. */
export function decoderNameOf(
  { model_type: name = 'gpt2' }: Record<string, unknown>,
  where: string,
): DecoderName {
  if (typeof name === 'string' && isDecoderName(name)) return name;
  const known = Object.keys(kinds)
    .join(', ')
    .replace(/, (\w+)$/, ' or $1');
  throw new UserError(`${where}: expected a model of type ${known}, got ${JSON.stringify(name)}`);
}

/** What the sizes in a decoder's config.json say of the weights beside it; nothing of one that is not of its kind. */
export function decoderClaims(name: DecoderName, config: unknown): Claim[] {
  const [schema, claims] = kinds[name] as readonly [z.ZodType, (config: never) => Claim[]];
  const read = schema.safeParse(config);
  return read.success ? claims(read.data as never) : [];
}
