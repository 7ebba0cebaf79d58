import type { Generator } from '@hidden-schema/torch';
import { bartKind } from './bart.ts';
import { type DecoderName, decoderNameOf } from './decoder-config.ts';
import type { DecoderKind, DecoderOptions } from './decoder-kind.ts';
import { gpt2Kind } from './gpt2.ts';
import type { LanguageDecoder } from './language-decoder.ts';
import { llamaKind } from './llama.ts';
import { readModelConfig } from './model-folder.ts';
import { recurrentKind } from './recurrent.ts';

const kinds: Readonly<Record<DecoderName, DecoderKind>> = {
  gpt2: gpt2Kind,
  llama: llamaKind,
  lstm: recurrentKind,
  bart: bartKind,
};

/** Opens the decoder in a folder of Hugging Face's layout, by the kind that its config.json names. */
export const openDecoder = (
  folder: string,
  generator: Generator,
  options: DecoderOptions = {},
): LanguageDecoder => kinds[decoderNameOf(readModelConfig(folder), folder)].open(folder, generator, options);
