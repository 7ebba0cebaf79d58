export {
  type AttentionOptions,
  type AttentionStudy,
  type SentenceAttention,
  sentenceAttention,
  studyAttention,
  type WordDivergence,
} from './attention.ts';
export { AttentionWords, attentionWords } from './attention-words.ts';
export {
  EncodedCorpus,
  type EncodedSentence,
  type EncodingOptions,
  encodedCorpus,
  openEncoded,
} from './encoded.ts';
export { exportedGraph } from './exported.ts';
export { drawAttention, drawDivergence, drawLabelMaps, type NamedFigure } from './figures.ts';
export {
  type Interpolation,
  type InterpolationOptions,
  type InterpolationStep,
  interpolateTexts,
  interpolateWalks,
} from './interpolate.ts';
export { encodedLabelMaps } from './label-maps.ts';
export { linksOf, runLayout } from './layout.ts';
export { type MeaningOptions, type SymbolExample, type SymbolMeaning, symbolMeanings } from './meaning.ts';
export { modelCard, writeModelCard } from './model-card.ts';
export {
  renameSymbol,
  runSymbols,
  type SymbolNames,
  symbolNames,
  symbolNumber,
  symbolTitle,
} from './names.ts';
export {
  type AnalysedRun,
  analysed,
  type LanguageRun,
  languageRun,
  mostLikelyLinks,
  openRun,
  type SyntheticRun,
} from './opened.ts';
export { type ReportOptions, runReport } from './report.ts';
export { type ReportPart, type ReportSection, reportPage } from './report-page.ts';
export { plainJson, type Results, writeResults } from './results.ts';
export * from './sheets.ts';
export { storedMeanings } from './stored-meanings.ts';
export { SymbolTally } from './symbol-tally.ts';
export { type PlacedWord, wordsOf } from './words.ts';
