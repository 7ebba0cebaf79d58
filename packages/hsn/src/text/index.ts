export { BatchOrder, type BatchPosition, type DrawnRows, type OrderOptions } from './batch-order.ts';
export {
  fingerprintOf,
  openTextCorpus,
  streamedTexts,
  type TextCorpus,
  type TextCorpusOptions,
  TextFiles,
} from './corpus.ts';
export { type Frame, idsTensor, type PaddedIds, padded, partOfPadded } from './padding.ts';
export { type CorpusReport, corpusNotes, emptyReport, type FileReport, type TokenReport } from './report.ts';
export {
  BAD_UTF8_POLICIES,
  type BadUtf8Policy,
  TEXT_DEFAULTS,
  TEXT_FORMATS,
  TEXT_SPLITS,
  type TextFormat,
  type TextRecord,
  type TextSettings,
  type TextSplit,
} from './settings.ts';
export { cacheFolder } from './cache-folder.ts';
export type { CorpusInput, TextSource } from './sources.ts';
export { DEFAULT_SHARES, type SplitShares } from './splits.ts';
export {
  batchesByLength,
  type Frames,
  lengthOrder,
  partOfBatch,
  readBatch,
  type TextBatch,
} from './text-batches.ts';
export type { CorpusProgress, TokenizerSide } from './token-cache.ts';
export { CacheFault, type TokenSide, TokenStore } from './token-store.ts';
