import { UserError } from '@hidden-schema/base';
import { Generator, nn, scope, type TensorOptions } from '@hidden-schema/torch';
import { type BertConfig, BertEncoder, bertConfigSchema } from './bert.ts';
import type { Claim } from './claims.ts';
import { checkedConfig, checkFolder, hasSafetensors, loaded, readModelConfig } from './model-folder.ts';
import { onnxFile } from './onnx/reader.ts';

/** A BERT's or MPNet's settings from the config.json of its folder, checked. */
export function readBertConfig(folder: string): BertConfig {
  const settings = readModelConfig(folder);
  const kind = settings.model_type ?? 'bert';
  if (kind !== 'bert' && kind !== 'mpnet')
    throw new UserError(
      `${folder} holds a model of type ${JSON.stringify(kind)}; expected a BERT or an MPNet as encoder`,
    );
  const config = checkedConfig(bertConfigSchema, settings, `${folder}/config.json`);
  if (config.hidden_size % config.num_attention_heads !== 0)
    throw new UserError(
      `${folder}/config.json: hidden_size ${config.hidden_size} does not divide into ${config.num_attention_heads} heads`,
    );
  return config;
}

const projections: Readonly<Record<string, string>> = { q: 'query', k: 'key', v: 'value' };

/** Name here of a stored tensor; nothing for heads, poolers and counters, which hold nothing that is used. */
export function bertName(stored: string): string | undefined {
  const name = stored
    .replace(/^(?:bert|mpnet|model|0\.auto_model)\./, '')
    .replace(/LayerNorm\.gamma$/, 'LayerNorm.weight')
    .replace(/LayerNorm\.beta$/, 'LayerNorm.bias')
    // MPNet's names of what BERT has too.
    .replace(/\.attention\.attn\.([qkv])\./, (_, part: string) => `.attention.self.${projections[part]}.`)
    .replace('.attention.attn.o.', '.attention.output.dense.')
    .replace('.attention.LayerNorm.', '.attention.output.LayerNorm.');
  if (name === 'embeddings.position_ids') return undefined;
  return /^(?:embeddings|encoder)\./.test(name) ? name : undefined;
}

function bertClaims(config: BertConfig): Claim[] {
  const of = (key: keyof BertConfig & string, tensor: RegExp, axis?: number): Claim => ({
    key,
    value: config[key] as number,
    tensor,
    ...(axis === undefined ? {} : { axis }),
  });
  return [
    of('num_hidden_layers', /^encoder\.layer\.(\d+)\./),
    of('vocab_size', /^embeddings\.word_embeddings\.weight$/, 0),
    of('hidden_size', /^embeddings\.word_embeddings\.weight$/, 1),
    of('max_position_embeddings', /^embeddings\.position_embeddings\.weight$/, 0),
    config.model_type === 'mpnet'
      ? of('relative_attention_num_buckets', /^encoder\.relative_attention_bias\.weight$/, 0)
      : of('type_vocab_size', /^embeddings\.token_type_embeddings\.weight$/, 0),
    of('intermediate_size', /^encoder\.layer\.0\.intermediate\.dense\.weight$/, 0),
  ];
}

/** A trained BERT or MPNet from a Hugging Face folder, of safetensors or else of an ONNX graph; 16-bit weights become float32. */
export function openBert(
  folder: string,
  options: TensorOptions & { generator?: Generator; config?: BertConfig } = {},
): BertEncoder {
  const config = options.config ?? readBertConfig(folder);
  const onnx = hasSafetensors(folder) ? undefined : onnxFile(folder);
  const rules = { rename: bertName, optional: () => false, onnx };
  checkFolder(folder, bertClaims(config), rules);
  const generator = options.generator ?? new Generator(0);
  // Its parameters outlive the scope; what they were copied from does not.
  const encoder = scope(() => nn.undrawn(() => new BertEncoder(config, generator, options)));
  return loaded(encoder, folder, rules);
}
