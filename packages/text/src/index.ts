export { BatchOrder, type BatchPosition } from './batch-order.ts';
export {
  streamedTexts,
  type TextCorpus,
  type TextCorpusOptions,
  TextFiles,
} from './corpus.ts';
export {
  type CorpusReport,
  corpusNotes,
  emptyReport,
  type FileReport,
  fingerprintOf,
} from './corpus-report.ts';
export { CsvAssembler } from './csv.ts';
export { parseDates } from './dates.ts';
export { eachField, readLines } from './field-lines.ts';
export { fileLines } from './lines.ts';
export { countRepeated } from './near-duplicates.ts';
export { type Frame, idsTensor, type PaddedIds, padded, partOfPadded, rowsOfPadded } from './padding.ts';
export { passagesOf } from './passages.ts';
export { TextReader } from './reader.ts';
export {
  BAD_UTF8_POLICIES,
  type BadUtf8Policy,
  TEXT_DEFAULTS,
  TEXT_FORMATS,
  TEXT_SPLITS,
  type TextSettings,
  type TextSplit,
} from './settings.ts';
export type { CorpusInput } from './sources.ts';
export { DEFAULT_SHARES, rowDraw, splitOfDraw } from './splits.ts';
export {
  batchesByLength,
  type Frames,
  lengthOrder,
  partOfBatch,
  readBatch,
  type TextBatch,
} from './text-batches.ts';
export { textHash, textKey } from './text-keys.ts';
export { type CorpusProgress, storedCorpus, type TokenizerSide } from './token-cache.ts';
export { tokenPassages } from './token-passages.ts';
export { TokenStore } from './token-store.ts';
export {
  addedToken,
  type BytePairSplit,
  byteBpeJson,
  gpt2Tokenizer,
  startingWith,
  TokenCounts,
  trimmedByteBpe,
} from './tokenizer/byte-bpe.ts';
export { panicOf } from './tokenizer/probe.ts';
export { specialConfig } from './tokenizer/special.ts';
export { loadTokenizer, ownTokenizer, type Tokenizer, tokenizerFromJson } from './tokenizer/tokenizer.ts';
export { trainByteBpe, WordCounts } from './tokenizer/train-bpe.ts';
export { MARKED_WALK_COLUMNS, WALK_COLUMNS } from './walk-columns.ts';
