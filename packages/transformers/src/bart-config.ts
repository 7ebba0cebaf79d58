import { z } from 'zod';
import type { Claim } from './claims.ts';
import { symbolsSchema } from './model-folder.ts';

const count = z.int().positive();
const token = z.int().nonnegative().nullish();
const dropout = z.number().min(0).lt(1);

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
  const side = (name: 'encoder' | 'decoder'): Claim[] => [
    {
      key: `${name}_layers`,
      value: config[`${name}_layers`],
      tensor: new RegExp(`^model\\.${name}\\.layers\\.(\\d+)\\.`),
    },
    {
      key: `${name}_ffn_dim`,
      value: config[`${name}_ffn_dim`],
      tensor: new RegExp(`^model\\.${name}\\.layers\\.0\\.fc1\\.weight$`),
      axis: 0,
    },
    {
      key: `max_position_embeddings + ${positionOffset}`,
      value: config.max_position_embeddings + positionOffset,
      tensor: new RegExp(`^model\\.${name}\\.embed_positions\\.weight$`),
      axis: 0,
    },
  ];
  return [
    { key: 'vocab_size', value: config.vocab_size, tensor: table, axis: 0 },
    { key: 'd_model', value: config.d_model, tensor: table, axis: 1 },
    ...side('encoder'),
    ...side('decoder'),
  ];
}
