import fs from 'node:fs';
import path from 'node:path';
import { cacheFolder, hashFile, reasonOf, UserError } from '@hidden-schema/base';
import { Generator } from '@hidden-schema/torch';
import { openLlama2c } from './llama2c.ts';
import { llama2cTokenizerJson } from './llama2c-json.ts';
import { writeModelFolder } from './model-folder.ts';

/**
 * A llama2.c file with its tokenizer behind it as a folder in Hugging Face's layout. It is made once, in the cache that
 * downloads go to, and found again by the file's hash.
 */
export function llama2cFolder(file: string, options: { cache?: string } = {}): string {
  const { sha256 } = hashFile(file);
  const folder = path.join(options.cache ?? cacheFolder(), 'converted', `llama2c-${sha256.slice(0, 16)}`);
  if (fs.existsSync(folder)) return folder;
  const { decoder, tokenizer } = openLlama2c(file, new Generator(0));
  const partial = `${folder}.${process.pid}.partial`;
  try {
    if (!tokenizer)
      throw new UserError(`${file} has weights alone; expected a tokenizer.bin behind them in the same file`);
    fs.mkdirSync(path.dirname(folder), { recursive: true });
    writeModelFolder(partial, {
      config: decoder.configOf(),
      tensors: decoder.namedTensors(),
      tokenizer: llama2cTokenizerJson(tokenizer),
    });
    fs.renameSync(partial, folder);
    return folder;
  } catch (error) {
    if (error instanceof UserError) throw error;
    // Another process was faster: its folder has the same content.
    if (fs.existsSync(folder)) return folder;
    throw new UserError(`cannot write ${folder}: ${reasonOf(error)}`);
  } finally {
    fs.rmSync(partial, { recursive: true, force: true });
    decoder.free();
  }
}
