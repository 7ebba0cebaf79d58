import { UserError } from '@hidden-schema/base';
import type { Generator } from '@hidden-schema/torch';
import { bartKind } from './bart.ts';
import type { DecoderKind, DecoderOptions } from './decoder-kind.ts';
import { gpt2Kind } from './gpt2.ts';
import type { LanguageDecoder } from './language-decoder.ts';
import { llamaKind } from './llama.ts';
import { readModelConfig } from './model-folder.ts';
import { recurrentKind } from './recurrent.ts';

/** Every kind of decoder by the name that settings and config.json's `model_type` give it. */
const kinds: Readonly<Record<string, DecoderKind>> = {
  gpt2: gpt2Kind,
  llama: llamaKind,
  lstm: recurrentKind,
  bart: bartKind,
};

/** The kind that a name stands for, if it stands for one instead of weights. */
export const decoderKind = (name: string): DecoderKind | undefined =>
  Object.hasOwn(kinds, name) ? kinds[name] : undefined;

/** The kind that a config.json names; GPT-2's where it names none. */
export function kindOfConfig(config: Record<string, unknown>, where: string): DecoderKind {
  const name = config.model_type ?? 'gpt2';
  const kind = typeof name === 'string' ? decoderKind(name) : undefined;
  if (kind) return kind;
  const known = Object.keys(kinds)
    .join(', ')
    .replace(/, (\w+)$/, ' or $1');
  throw new UserError(`${where}: expected a model of type ${known}, got ${JSON.stringify(name)}`);
}

/** Opens the decoder in a folder of Hugging Face's layout, by the kind that its config.json names. */
export function openDecoder(
  folder: string,
  generator: Generator,
  options: DecoderOptions = {},
): LanguageDecoder {
  return kindOfConfig(readModelConfig(folder), folder).open(folder, generator, options);
}
