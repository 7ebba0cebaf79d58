export { type Analysis, type AnalysisSource, analysis, type Report } from './analyses/analysis.ts';
export { askAnalysis, RunSource } from './analyses/source.ts';
export { sentenceAttention } from './analysis/attention.ts';
export {
  mergeSymbols,
  type RunUpdate,
  type SymbolEdit,
  splitSymbol,
  undoEdit,
  updateRun,
} from './analysis/edits.ts';
export { EncodedCorpus, type EncodingOptions, encodedCorpus, openEncoded } from './analysis/encoded.ts';
export { EncodedWriter } from './analysis/encoded-writer.ts';
export type { ExplainedText } from './analysis/explain.ts';
export type { Found } from './analysis/find.ts';
export {
  type Interpolation,
  type InterpolationOptions,
  type InterpolationStep,
  interpolateTexts,
} from './analysis/interpolate.ts';
export type { JudgedFigures, MeasuredRun } from './analysis/judged-figures.ts';
export { linksOf, runLayout } from './analysis/layout.ts';
export { type SymbolGroup, type SymbolLevel, type SymbolLevels, symbolLevels } from './analysis/levels.ts';
export type { SymbolExample, SymbolMeaning } from './analysis/meaning.ts';
export { writeModelCard } from './analysis/model-card.ts';
export { namedSymbols, nameSeeds, renameSymbol, symbolNames } from './analysis/names.ts';
export { languageRun, openRun } from './analysis/opened.ts';
export { runReport } from './analysis/report.ts';
export type { DecoderComparison, StageChanges } from './analysis/stages.ts';
export { knownMeanings, storedMeanings } from './analysis/stored-meanings.ts';
export type { SymbolFigures } from './analysis/symbol-figures.ts';
export type { SymbolYears } from './analysis/symbol-years.ts';
export { type RunTable, runTable } from './analysis/tables.ts';
export { textColumn, textTimes } from './analysis/text-columns.ts';
export { textMap } from './analysis/text-map.ts';
export { compareGroups, type GroupComparison } from './comparison/groups.ts';
export type { LabelPrediction } from './comparison/prediction.ts';
export { predictionText } from './comparison/prediction-sheets.ts';
export { studyTime, type TimeStudy } from './comparison/time.ts';
export type { GraphFormat } from './evaluation/graph-export.ts';
export { studyGraph } from './evaluation/graph-samples.ts';
export { graphStatistics } from './evaluation/graph-statistics.ts';
export { Judge } from './evaluation/judge.ts';
export { type LabelledWalks, type LabelMaps, labelMaps } from './evaluation/label-maps.ts';
export type { Sheet } from './evaluation/sheets.ts';
export { mostLikelyGraph } from './evaluation/showcase.ts';
export { exportLanguage } from './export.ts';
export { npmiCoherence } from './measures/coherence.ts';
export { embeddingCoherence } from './measures/embedding-coherence.ts';
export { spearman } from './measures/rank-correlation.ts';
export { readReference } from './measures/reference-texts.ts';
export type { SubsampleStability } from './measures/subsample-stability.ts';
export { referenceWindow } from './measures/topic-figures.ts';
export type { NamedSymbol } from './naming/ask-names.ts';
export type { ChatServer } from './naming/chat-client.ts';
export { type ExplainedCandidate, explainedCandidates, explainerOf } from './reasoning/explained.ts';
export type { MixedCandidate } from './reasoning/explained-mixture.ts';
export type { FittedMixture } from './reasoning/mixture-run.ts';
export { TABLE_FORMATS, type TableFormat, writeTable } from './table-files.ts';
export type { WalkFormat } from './walk-files.ts';
