export { beamSearch } from './beam-search.ts';
export { BertEncoder, bertConfigSchema } from './bert.ts';
export { openBert } from './bert-weights.ts';
export { type Claim, checkClaims, type Shapes, shapesOf } from './claims.ts';
export type { DecoderKind } from './decoder-kind.ts';
export { DEFAULT_ENCODER } from './default-encoder.ts';
export { distilledPieces } from './distil.ts';
export { type GenerationOptions, generate, generateSync } from './generation.ts';
export { Gpt2Decoder } from './gpt2.ts';
export { LanguageDecoder } from './language-decoder.ts';
export { LlamaDecoder } from './llama.ts';
export { addLora, loraTensors, mergedTensors, mergeLora } from './lora.ts';
export { type ModelFolder, readModelConfig, writeModelFolder } from './model-folder.ts';
export {
  findPretrained,
  openPretrainedEncoder,
  type PretrainedEncoder,
} from './pretrained.ts';
export { RecurrentDecoder } from './recurrent.ts';
export { decoderKind, kindOfConfig, openDecoder } from './registry.ts';
export { checkSampling, type SamplingOptions } from './sampling.ts';
export { StateCache } from './state-cache.ts';
export {
  bagSums,
  type PieceBags,
  pieceBags,
  StaticEncoder,
  unitLength,
} from './static-encoder.ts';
export { keptInHalf, openStaticEncoder, writeStaticEncoder } from './static-folder.ts';
export { SymbolAttention, type SymbolOptions } from './symbol-attention.ts';
export { LstmText, maskOfLengths, paddingMask, type TextEncoder, TransformerText } from './text-encoder.ts';
export { type BlockOptions, sinusoidalPositions, TransformerBlock } from './transformer-block.ts';
