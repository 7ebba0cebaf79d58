export { type Analysis, type AnalysisSource, analysis, type Report } from './analyses/analysis.ts';
export type { EncodedText } from './analyses/encode.ts';
export type { ExplainedText } from './analyses/explain-text.ts';
export {
  type InterpolationOptions,
  type InterpolationStep,
  interpolateTexts,
} from './analyses/interpolate-texts.ts';
export { predictionText } from './analyses/predict-sheets.ts';
export { runReport } from './analyses/report-sections.ts';
export { askAnalysis, RunSource, type SourceOptions } from './analyses/source.ts';
export { mostLikelyGraph } from './drawing/showcase.ts';
export { embeddingCoherence, npmiCoherence } from './measures/coherence.ts';
export { studyGraph } from './measures/graph-samples.ts';
export { graphStatistics } from './measures/graph-statistics.ts';
export { compareGroups, type GroupComparison } from './measures/groups.ts';
export { type LabelledWalks, type LabelMaps, labelMaps } from './measures/label-maps.ts';
export type { LabelPrediction } from './measures/prediction.ts';
export { readReference } from './measures/reference-texts.ts';
export type { SubsampleStability } from './measures/subsample-stability.ts';
export { studyTime, type TimeStudy } from './measures/time.ts';
export { referenceWindow } from './measures/topic-figures.ts';
export { explainedCandidates, explainerOf } from './reasoning/explained.ts';
export type { MixedCandidate } from './reasoning/explained-mixture.ts';
export type { FittedMixture } from './reasoning/mixture-run.ts';
export {
  mergeSymbols,
  type RunUpdate,
  type SymbolEdit,
  splitSymbol,
  undoEdit,
  updateRun,
} from './runs/edits.ts';
export { exportLanguage } from './runs/export.ts';
export { languageRun, openRun } from './runs/opened.ts';
export type { DecoderComparison, StageChanges } from './runs/stages.ts';
export { TABLE_FORMATS, type TableFormat, writeTable } from './runs/table-files.ts';
export { type RunTable, runTable } from './runs/tables.ts';
export { textMap } from './runs/text-map.ts';
export { keepWithRun } from './runs/trained-run.ts';
export { sentenceAttention } from './symbols/attention.ts';
export { Judge } from './symbols/judge.ts';
export type { JudgedFigures } from './symbols/judged-figures.ts';
export { linksOf, runLayout } from './symbols/layout.ts';
export { type SymbolGroup, type SymbolLevel, type SymbolLevels, symbolLevels } from './symbols/levels.ts';
export type { SymbolExample, SymbolMeaning } from './symbols/meaning.ts';
export { namedSymbols, renameSymbol, symbolNames } from './symbols/names.ts';
export { knownMeanings, storedMeanings } from './symbols/stored-meanings.ts';
export type { SymbolFigures } from './symbols/symbol-figures.ts';
export { EncodedCorpus, type EncodingOptions, encodedCorpus, openEncoded } from './texts/encoded.ts';
export { EncodedWriter } from './texts/encoded-writer.ts';
export type { Found } from './texts/finder.ts';
export { textColumn, textTimes } from './texts/text-columns.ts';
