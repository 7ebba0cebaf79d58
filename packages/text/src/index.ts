export { type TextCorpus, type TextCorpusOptions, TextFiles } from './corpus.ts';
export { type CorpusReport, corpusNotes, fingerprintOf } from './corpus-report.ts';
export { passagesOf } from './passages.ts';
export type { BadUtf8Policy, TextSettings, TextSplit } from './settings.ts';
export type { CorpusInput } from './sources.ts';
export {
  BatchOrder,
  type BatchPosition,
  type Frame,
  type Frames,
  idsTensor,
  type PaddedIds,
  padded,
  readBatch,
  rowsOfPadded,
  type TextBatch,
} from './text-batches.ts';
export type { CorpusProgress, TokenizerSide } from './token-cache.ts';
export { TokenStore } from './token-store.ts';
export { gpt2Tokenizer } from './tokenizer/byte-bpe.ts';
export { loadTokenizer, type Tokenizer, tokenizerFromJson } from './tokenizer/tokenizer.ts';
export { trainByteBpe } from './tokenizer/train-bpe.ts';
