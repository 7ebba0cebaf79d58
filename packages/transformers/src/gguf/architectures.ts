import { gpt2Claims, gpt2ConfigSchema, llamaClaims, llamaConfigSchema } from '../decoder-config.ts';
import type { Claim } from '../model-folder.ts';
import { checkedConfig } from '../model-folder.ts';
import type { GgufFile } from './reader.ts';

/** A tensor's name in Hugging Face's layout, and what is done to it on the way. */
export interface Placement {
  readonly name: string;
  /** Heads whose rows are pairs side by side, to be split in halves. */
  readonly heads?: number;
  /** Stored [out, in], wanted [in, out]. */
  readonly turned?: boolean;
}

/** A model as a GGUF describes it: its config.json, and where its tensors go. */
export interface Architecture {
  readonly config: Readonly<Record<string, unknown>>;
  readonly layers: number;
  readonly claims: readonly Claim[];
  /** By the name in the file. */
  readonly single: ReadonlyMap<string, Placement>;
  /** By the name behind `blk.N.`; the new name has # for N. */
  readonly each: ReadonlyMap<string, Placement>;
  /** Tensors that may be missing. */
  readonly optional: readonly string[];
}

const readers: Readonly<Record<string, (file: GgufFile) => Architecture>> = {
  llama,
  gpt2,
};

export function architectureOf(file: GgufFile): Architecture {
  const name = file.text('general.architecture');
  const reader = Object.hasOwn(readers, name) ? readers[name] : undefined;
  if (!reader)
    return file.fail(
      `it holds a model of the architecture ${JSON.stringify(name)}; ${Object.keys(readers).join(' and ')} can be imported`,
    );
  return reader(file);
}

/** What both have: sizes of the vocabulary, and numbers of special tokens. */
function shared(file: GgufFile) {
  const table = file.tensors.get('token_embd.weight');
  if (!table) return file.fail('it has no token_embd.weight');
  const token = (role: string) => {
    const key = `tokenizer.ggml.${role}_token_id`;
    return file.has(key) ? { [`${role}_token_id`]: file.number(key) } : {};
  };
  const tied = !file.tensors.has('output.weight');
  return { vocab_size: table.shape[0]!, tie_word_embeddings: tied, ...token('bos'), ...token('eos') };
}

function refuseScaling(file: GgufFile): void {
  const scaling = file.text('llama.rope.scaling.type', 'none');
  if (scaling !== 'none' || file.tensors.has('rope_freqs.weight'))
    file.fail('its rotary positions are scaled for longer texts, only the default ones can be read');
  if (file.number('llama.expert_count', 0) > 0)
    file.fail('it is a mixture of experts, only plain LLaMA models can be read');
}

function llamaSettings(file: GgufFile) {
  const number = (key: string, fallback?: number) => file.number(`llama.${key}`, fallback);
  refuseScaling(file);
  const heads = number('attention.head_count');
  const groups = number('attention.head_count_kv', heads);
  const width = number('embedding_length');
  const headWidth = number('attention.key_length', width / heads);
  if (number('rope.dimension_count', headWidth) !== headWidth)
    file.fail(`it turns a part of each head by its position, only whole heads can be read`);
  return {
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    ...shared(file),
    hidden_size: width,
    intermediate_size: number('feed_forward_length'),
    num_hidden_layers: number('block_count'),
    num_attention_heads: heads,
    num_key_value_heads: groups,
    head_dim: headWidth,
    max_position_embeddings: number('context_length'),
    rms_norm_eps: shortest(number('attention.layer_norm_rms_epsilon')),
    rope_theta: shortest(number('rope.freq_base', 10_000)),
    hidden_act: 'silu',
  };
}

function llama(file: GgufFile): Architecture {
  const config = llamaSettings(file);
  const { num_attention_heads: heads, num_key_value_heads: groups } = config;
  const each: [string, Placement][] = [
    ['attn_norm.weight', { name: 'input_layernorm.weight' }],
    ['attn_q.weight', { name: 'self_attn.q_proj.weight', heads }],
    ['attn_k.weight', { name: 'self_attn.k_proj.weight', heads: groups }],
    ['attn_v.weight', { name: 'self_attn.v_proj.weight' }],
    ['attn_output.weight', { name: 'self_attn.o_proj.weight' }],
    ['ffn_norm.weight', { name: 'post_attention_layernorm.weight' }],
    ['ffn_gate.weight', { name: 'mlp.gate_proj.weight' }],
    ['ffn_up.weight', { name: 'mlp.up_proj.weight' }],
    ['ffn_down.weight', { name: 'mlp.down_proj.weight' }],
  ];
  return {
    config,
    layers: config.num_hidden_layers,
    claims: llamaClaims(checkedConfig(llamaConfigSchema, config, file.path)),
    single: new Map([
      ['token_embd.weight', { name: 'model.embed_tokens.weight' }],
      ['output_norm.weight', { name: 'model.norm.weight' }],
      ['output.weight', { name: 'lm_head.weight' }],
    ]),
    each: inLayers('model.layers.#.', each),
    optional: ['output.weight'],
  };
}

function gpt2(file: GgufFile): Architecture {
  const number = (key: string) => file.number(`gpt2.${key}`);
  const config = {
    architectures: ['GPT2LMHeadModel'],
    model_type: 'gpt2',
    ...shared(file),
    n_positions: number('context_length'),
    n_embd: number('embedding_length'),
    n_layer: number('block_count'),
    n_head: number('attention.head_count'),
    n_inner: number('feed_forward_length'),
    layer_norm_epsilon: shortest(number('attention.layer_norm_epsilon')),
    activation_function: 'gelu_new',
  };
  const both = (from: string, to: string, turned = false): [string, Placement][] => [
    [`${from}.weight`, { name: `${to}.weight`, turned }],
    [`${from}.bias`, { name: `${to}.bias` }],
  ];
  const each = [
    ...both('attn_norm', 'ln_1'),
    ...both('attn_qkv', 'attn.c_attn', true),
    ...both('attn_output', 'attn.c_proj', true),
    ...both('ffn_norm', 'ln_2'),
    ...both('ffn_up', 'mlp.c_fc', true),
    ...both('ffn_down', 'mlp.c_proj', true),
  ];
  return {
    config,
    layers: config.n_layer,
    claims: gpt2Claims(checkedConfig(gpt2ConfigSchema, config, file.path)),
    single: new Map([
      ['token_embd.weight', { name: 'transformer.wte.weight' }],
      ['position_embd.weight', { name: 'transformer.wpe.weight' }],
      ...both('output_norm', 'transformer.ln_f'),
      ['output.weight', { name: 'lm_head.weight' }],
    ]),
    each: inLayers('transformer.h.#.', each),
    optional: ['output.weight'],
  };
}

function inLayers(prefix: string, each: readonly [string, Placement][]): Map<string, Placement> {
  return new Map(each.map(([from, to]) => [from, { ...to, name: prefix + to.name }]));
}

/** A float32 as the decimal number that was meant: 1e-5, not 0.000009999999747378752. */
function shortest(value: number): number {
  for (let digits = 1; digits < 9; digits++) {
    const text = Number(value.toPrecision(digits));
    if (Math.fround(text) === Math.fround(value)) return text;
  }
  return value;
}
