// An encoder that no run was made with: a BERT of random weights, whose texts are alike by the words they share.
import fs from 'node:fs';
import path from 'node:path';
import { trainByteBpe } from '@hidden-schema/text';
import { Generator, scope, writeSafetensors } from '@hidden-schema/torch';
import { BertEncoder, bertConfigSchema } from '@hidden-schema/transformers';

/** Writes a folder of such an encoder with a vocabulary of the texts' own. */
export function writeJudge(folder: string, texts: readonly string[]): string {
  const tokenizer = trainByteBpe(texts, 400);
  const config = bertConfigSchema.parse({
    ...{ vocab_size: 400, hidden_size: 64, num_hidden_layers: 1, num_attention_heads: 2 },
    ...{ intermediate_size: 64, max_position_embeddings: 64, initializer_range: 0.3 },
  });
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, 'config.json'), JSON.stringify(config));
  fs.writeFileSync(path.join(folder, 'tokenizer.json'), tokenizer.json);
  scope(() =>
    writeSafetensors(
      path.join(folder, 'model.safetensors'),
      new BertEncoder(config, new Generator(3)).namedTensors(),
    ),
  );
  return folder;
}
