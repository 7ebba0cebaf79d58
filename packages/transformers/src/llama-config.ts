import { z } from 'zod';
import { symbolsSchema } from './model-folder.ts';

const count = z.int().positive();
const token = z.union([z.int().nonnegative(), z.array(z.int().nonnegative())]).nullish();

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
    attention_dropout: z.number().min(0).lt(1).default(0),
    initializer_range: z.number().positive().default(0.02),
    tie_word_embeddings: z.boolean().default(false),
    bos_token_id: token,
    eos_token_id: token,
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
