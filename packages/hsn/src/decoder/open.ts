import type { Generator } from '@hidden-schema/torch';
import { UserError } from '../errors.ts';
import { type DecoderOptions, Gpt2Decoder } from './gpt2.ts';
import type { LanguageDecoder } from './language-decoder.ts';
import { LlamaDecoder } from './llama.ts';
import { readModelConfig } from './model-folder.ts';

/** Opens the decoder in a folder of Hugging Face's layout, by the kind that its config.json names. */
export function openDecoder(
  folder: string,
  generator: Generator,
  options: DecoderOptions = {},
): LanguageDecoder {
  const kind = readModelConfig(folder).model_type;
  if (kind === 'gpt2') return Gpt2Decoder.open(folder, generator, options);
  if (kind === 'llama') return LlamaDecoder.open(folder, generator, options);
  throw new UserError(`${folder}: expected a model of type gpt2 or llama, got ${JSON.stringify(kind)}`);
}
