import fs from 'node:fs';
import path from 'node:path';
import { openSafetensors, scope, writeSafetensors } from '@hidden-schema/torch';
import { DEFAULT_ENCODER, findPretrained } from '@hidden-schema/transformers';

/** Tokens of a text that both sides read. */
export const longest = 128;

/** What sentence-transformers asks of a folder beside weights: which parts follow each other. */
const parts: Readonly<Record<string, unknown>> = {
  'modules.json': [
    { idx: 0, name: '0', path: '', type: 'sentence_transformers.models.Transformer' },
    { idx: 1, name: '1', path: '1_Pooling', type: 'sentence_transformers.models.Pooling' },
    { idx: 2, name: '2', path: '2_Normalize', type: 'sentence_transformers.models.Normalize' },
  ],
  'sentence_bert_config.json': { max_seq_length: longest, do_lower_case: false },
  '1_Pooling/config.json': { word_embedding_dimension: 384, pooling_mode_mean_tokens: true },
  '2_Normalize/config.json': {},
  'tokenizer_config.json': { tokenizer_class: 'BertTokenizerFast', model_max_length: 512 },
};

/** Writes our MiniLM, the same weights in float32, as a folder that sentence-transformers opens. */
export async function writeMiniLm(folder: string): Promise<void> {
  const { folder: from } = await findPretrained(DEFAULT_ENCODER);
  for (const [file, content] of Object.entries(parts)) {
    fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    fs.writeFileSync(path.join(folder, file), JSON.stringify(content));
  }
  for (const file of ['config.json', 'tokenizer.json'])
    fs.copyFileSync(path.join(from, file), path.join(folder, file));
  const [name] = fs.readdirSync(from).filter((file) => file.endsWith('.safetensors'));
  scope(() => {
    const weights = openSafetensors(path.join(from, name!));
    const tensors = weights.names
      .filter((key) => !key.endsWith('position_ids'))
      .map((key) => [key, weights.get(key).to('float32')] as const);
    writeSafetensors(path.join(folder, 'model.safetensors'), tensors, { format: 'pt' });
    weights.close();
  });
}
