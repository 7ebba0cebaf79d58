import type { Generator, TensorOptions } from '@hidden-schema/torch';
import type { Claim } from './claims.ts';
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
  /** What the sizes in a config.json say of the weights beside it; nothing of one that is not this kind's. */
  claims(config: unknown): Claim[];
  /** From a folder with config.json and safetensors. */
  open(folder: string, generator: Generator, options: DecoderOptions): LanguageDecoder;
}
