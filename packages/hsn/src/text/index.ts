export {
  fingerprintOf,
  openTextCorpus,
  streamedTexts,
  type TextCorpus,
  type TextCorpusOptions,
  TextFiles,
} from './corpus.ts';
export {
  batchesByLength,
  type Frame,
  type Frames,
  LengthBatches,
  type LengthBatchOptions,
  type PaddedIds,
  padded,
  partOfBatch,
  readBatch,
  type TextBatch,
} from './length-batches.ts';
export { LengthOrder, type LengthOrderOptions } from './length-order.ts';
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
export { type CorpusInput, cacheFolder, type TextSource } from './sources.ts';
export { DEFAULT_SHARES, type SplitShares } from './splits.ts';
export type { CorpusProgress, TokenizerSide } from './token-cache.ts';
export { CacheFault, type TokenSide, TokenStore } from './token-store.ts';
