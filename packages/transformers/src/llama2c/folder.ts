import fs from 'node:fs';
import path from 'node:path';
import { cacheFolder, hashFile, reasonOf, UserError, writeBeside } from '@hidden-schema/base';
import { Generator } from '@hidden-schema/torch';
import { writeModelFolder } from '../model-folder.ts';
import { llama2cTokenizerJson } from './json.ts';
import { openLlama2c } from './model.ts';

/**
 * A llama2.c file with its tokenizer behind it as a folder in Hugging Face's layout. It is made once, in the cache that
 * downloads go to, and found again by the file's hash.
 */
export function llama2cFolder(file: string, options: { cache?: string } = {}): string {
  const { sha256 } = hashFile(file);
  const folder = path.join(options.cache ?? cacheFolder(), 'converted', `llama2c-${sha256.slice(0, 16)}`);
  if (fs.existsSync(folder)) return folder;
  const { decoder, tokenizer } = openLlama2c(file, new Generator(0));
  try {
    if (!tokenizer)
      throw new UserError(`${file} has weights alone; expected a tokenizer.bin behind them in the same file`);
    const content = {
      config: decoder.configOf(),
      tensors: decoder.namedTensors(),
      tokenizer: llama2cTokenizerJson(tokenizer),
    };
    fs.mkdirSync(path.dirname(folder), { recursive: true });
    // Where another process was faster, its folder has the same content.
    writeBeside(folder, (partial) => writeModelFolder(partial, content), { standing: 'kept' });
    return folder;
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`cannot write ${folder}: ${reasonOf(error)}`);
  } finally {
    decoder.free();
  }
}
