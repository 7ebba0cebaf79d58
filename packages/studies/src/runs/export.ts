import fs from 'node:fs';
import path from 'node:path';
import { reasonOf, UserError, writeBeside } from '@hidden-schema/base';
import type { OpenedLanguage } from '@hidden-schema/hsn';
import { specialConfig } from '@hidden-schema/text/tokenizer/tokenizer';
import { BertEncoder } from '@hidden-schema/transformers/bert';
import { mergedTensors } from '@hidden-schema/transformers/lora';
import { type ModelFolder, writeModelFolder } from '@hidden-schema/transformers/model-folder';

interface NamedFolder extends ModelFolder {
  name: string;
}

/** Writes a run's decoder, and its encoder where it was trained along, as Hugging Face folders; returns their names. */
export function exportLanguage(opened: OpenedLanguage, out: string): string[] {
  const folders = modelFolders(opened);
  if (fs.existsSync(out)) {
    if (!fs.statSync(out).isDirectory()) throw new UserError(`${out} is a file; expected a folder to make`);
    if (fs.readdirSync(out).length > 0)
      throw new UserError(`${out} is not empty; choose a folder that is not there yet`);
  }
  try {
    fs.mkdirSync(path.dirname(path.resolve(out)), { recursive: true });
    writeBeside(path.resolve(out), (partial) => {
      fs.mkdirSync(partial);
      for (const folder of folders) writeModelFolder(path.join(partial, folder.name), folder);
    });
  } catch (error) {
    throw new UserError(`cannot write ${out}: ${reasonOf(error)}`);
  }
  return folders.map(({ name }) => path.join(out, name));
}

function modelFolders({ model, tokenizers }: OpenedLanguage): NamedFolder[] {
  const decoder: NamedFolder = {
    name: 'decoder',
    config: model.decoder.configOf(),
    tensors: mergedTensors(model.decoder),
    tokenizer: tokenizers.decoder.json,
    special: specialConfig(tokenizers.decoder.special, tokenizers.decoder),
  };
  const { text } = model.encoder;
  if (!(text instanceof BertEncoder)) return [decoder];
  const config = { architectures: ['BertModel'], ...text.config };
  const tensors = text.namedTensors();
  return [{ name: 'encoder', config, tensors, tokenizer: tokenizers.encoder.json }, decoder];
}
