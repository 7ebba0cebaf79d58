export { BertEncoder, bertConfigSchema, openBert } from './bert.ts';
export type { DecoderKind } from './decoder-kind.ts';
export { DEFAULT_ENCODER } from './default-encoder.ts';
export { distilledPieces } from './distil.ts';
export { generate, generateSync, type SamplingOptions } from './generation.ts';
export { Gpt2Decoder } from './gpt2.ts';
export { LanguageDecoder } from './language-decoder.ts';
export { LlamaDecoder } from './llama.ts';
export { addLora, loraTensors, mergeLora } from './lora.ts';
export { writeModelFolder } from './model-folder.ts';
export {
  findPretrained,
  openPretrainedEncoder,
  openPretrainedText,
  type PretrainedEncoder,
} from './pretrained.ts';
export { RecurrentDecoder } from './recurrent.ts';
export { openDecoder } from './registry.ts';
export { SymbolAttention } from './symbol-attention.ts';
export {
  LstmText,
  maskOfLengths,
  sinusoidalPositions,
  type TextEncoder,
  TransformerText,
} from './text-encoder.ts';
