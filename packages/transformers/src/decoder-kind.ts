import type { Generator, TensorOptions } from '@hidden-schema/torch';
import type { DecoderName } from './decoder-config.ts';
import type { LanguageDecoder } from './language-decoder.ts';
import type { SymbolOptions } from './symbol-attention.ts';

export interface DecoderOptions extends TensorOptions {
  /** Symbols that the decoder attends to; without them the plain language model. */
  symbols?: SymbolOptions;
}

/** Sizes of a decoder from scratch, in terms that every kind understands. */
export interface ScratchSizes {
  vocabulary: number;
  positions: number;
  width: number;
  layers: number;
  heads: number;
  dropout: number;
}

/** All that the rest of the program asks of a kind of decoder. */
export interface DecoderKind {
  /** From scratch, with weights as drawn. */
  make(sizes: ScratchSizes, generator: Generator, options: DecoderOptions): LanguageDecoder;
  /** As a config.json says, with weights to come from a checkpoint. */
  blank(config: Record<string, unknown>, generator: Generator, options: DecoderOptions): LanguageDecoder;
  /** From a folder with config.json and safetensors. */
  open(folder: string, generator: Generator, options: DecoderOptions): LanguageDecoder;
}

/** The code of each kind of decoder, which is loaded when one is made. */
const loaders: Readonly<Record<DecoderName, () => Promise<DecoderKind>>> = {
  gpt2: async () => (await import('./gpt2.ts')).gpt2Kind,
  llama: async () => (await import('./llama.ts')).llamaKind,
  lstm: async () => (await import('./recurrent.ts')).recurrentKind,
  bart: async () => (await import('./bart.ts')).bartKind,
};

export const loadDecoderKind = (name: DecoderName): Promise<DecoderKind> => loaders[name]();
