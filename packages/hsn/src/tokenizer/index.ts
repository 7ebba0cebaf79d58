export {
  byteBpe,
  END_OF_TEXT,
  gpt2Tokenizer,
  TokenCounts,
  type Trimmed,
  trimmedByteBpe,
} from './byte-bpe.ts';
export { panicOf } from './probe.ts';
export type { SpecialTokens } from './special.ts';
export {
  type Encoded,
  type EncodedIds,
  type EncodeOptions,
  loadTokenizer,
  ownTokenizer,
  type Tokenizer,
  tokenizerFromJson,
} from './tokenizer.ts';
export { trainByteBpe, WordCounts } from './train-bpe.ts';
