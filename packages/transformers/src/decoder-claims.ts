import type { Claim } from './claims.ts';
import type { Gpt2Config } from './gpt2.ts';
import type { LlamaConfig } from './llama-config.ts';
import type { SymbolRecord } from './model-folder.ts';

/** What the sizes of a GPT-2's settings say of its weights. */
export function gpt2Claims(config: Gpt2Config): Claim[] {
  const { n_layer, vocab_size, n_embd, n_positions, n_inner } = config;
  const table = /^transformer\.wte\.weight$/;
  const inner =
    n_inner === null ? { key: '4 × n_embd', value: 4 * n_embd } : { key: 'n_inner', value: n_inner };
  return [
    { key: 'n_layer', value: n_layer, tensor: /^transformer\.h\.(\d+)\./ },
    { key: 'vocab_size', value: vocab_size, tensor: table, axis: 0 },
    { key: 'n_embd', value: n_embd, tensor: table, axis: 1 },
    { key: 'n_positions', value: n_positions, tensor: /^transformer\.wpe\.weight$/, axis: 0 },
    { ...inner, tensor: /^transformer\.h\.0\.mlp\.c_fc\.weight$/, axis: 1 },
  ];
}

/** What the sizes of a LLaMA's settings say of its weights; its positions are computed, and made when used. */
export function llamaClaims(config: LlamaConfig): Claim[] {
  const { num_attention_heads: heads, num_key_value_heads: groups, head_dim } = config;
  const table = /^model\.embed_tokens\.weight$/;
  const first = (name: string): RegExp => new RegExp(`^model\\.layers\\.0\\.${name}\\.weight$`);
  return [
    { key: 'num_hidden_layers', value: config.num_hidden_layers, tensor: /^model\.layers\.(\d+)\./ },
    { key: 'vocab_size', value: config.vocab_size, tensor: table, axis: 0 },
    { key: 'hidden_size', value: config.hidden_size, tensor: table, axis: 1 },
    {
      key: 'num_attention_heads × head_dim',
      value: heads * head_dim,
      tensor: first('self_attn.q_proj'),
      axis: 0,
    },
    {
      key: 'num_key_value_heads × head_dim',
      value: groups * head_dim,
      tensor: first('self_attn.k_proj'),
      axis: 0,
    },
    { key: 'intermediate_size', value: config.intermediate_size, tensor: first('mlp.gate_proj'), axis: 0 },
  ];
}

/** The same of the symbols that a decoder's own config.json has. */
export function symbolClaims(record: SymbolRecord | undefined): Claim[] {
  if (!record) return [];
  const { symbols: value, variant, reading, steps } = record;
  if (reading !== undefined)
    return [{ key: 'hsn.symbols', value, tensor: /\.into_embedding\.weight$/, axis: 0 }];
  const tensor = /\.0\..*\.psa\.k\.weight$/;
  const ofSteps = steps === undefined ? [] : [{ key: 'hsn.steps', value: steps, tensor, axis: 0 }];
  return variant === 'authors'
    ? [{ key: 'hsn.symbols', value, tensor: /\.map_symbols\.weight$/, axis: 1 }, ...ofSteps]
    : [{ key: 'hsn.symbols', value, tensor, axis: ofSteps.length }, ...ofSteps];
}
