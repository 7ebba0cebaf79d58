export { BagDecoder, type BagOptions } from './bag.ts';
export { type KeysValues, KeyValueCache } from './cache.ts';
export type { DecoderKind, DecoderOptions, ScratchSizes } from './decoder-kind.ts';
export * from './generation.ts';
export {
  type Gpt2Config,
  Gpt2Decoder,
  type Gpt2Settings,
  gpt2ConfigSchema,
} from './gpt2.ts';
export * from './language-decoder.ts';
export { LlamaDecoder } from './llama.ts';
export { type LlamaConfig, type LlamaSettings, llamaConfigSchema } from './llama-config.ts';
export { openLlama2c } from './llama2c.ts';
export { llama2cFolder } from './llama2c-folder.ts';
export { Llama2cTokenizer } from './llama2c-tokenizer.ts';
export * from './lora.ts';
export { RecurrentDecoder } from './recurrent.ts';
export { decoderKind, kindOfConfig, openDecoder } from './registry.ts';
export { checkSampling, type SamplingOptions } from './sampling.ts';
export { SymbolAttention, type SymbolOptions } from './symbol-attention.ts';
export type { WordDropout } from './word-dropout.ts';
