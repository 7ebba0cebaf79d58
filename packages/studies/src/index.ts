export { sentenceAttention, studyAttention } from './analysis/attention.ts';
export { choiceResults } from './analysis/choice.ts';
export {
  mergeSymbols,
  type RunUpdate,
  runEdits,
  type SymbolEdit,
  splitSymbol,
  undoEdit,
  updateRun,
} from './analysis/edits.ts';
export { EncodedCorpus, type EncodingOptions, encodedCorpus, openEncoded } from './analysis/encoded.ts';
export { EncodedWriter } from './analysis/encoded-writer.ts';
export {
  type ExplainedText,
  explainText,
  explanationFaithfulness,
  type Faithfulness,
} from './analysis/explain.ts';
export { explainedPage, explainedSpans } from './analysis/explained-page.ts';
export { exportedGraph } from './analysis/exported.ts';
export { drawAttention, drawDivergence, drawLabelMaps, type NamedFigure } from './analysis/figures.ts';
export { type Found, type FoundText, TextFinder } from './analysis/find.ts';
export {
  type Interpolation,
  type InterpolationOptions,
  type InterpolationStep,
  interpolateTexts,
  interpolateWalks,
} from './analysis/interpolate.ts';
export {
  type JudgedFigures,
  judgedFigures,
  type MeasuredRun,
  referenceNpmi,
  subsampleFigures,
} from './analysis/judged-figures.ts';
export { linkedSymbols, linksOf, runLayout } from './analysis/layout.ts';
export {
  levelSheets,
  levelsText,
  type SymbolGroup,
  type SymbolLevel,
  type SymbolLevels,
  symbolLevels,
} from './analysis/levels.ts';
export { type SymbolExample, type SymbolMeaning, symbolMeanings } from './analysis/meaning.ts';
export { writeModelCard } from './analysis/model-card.ts';
export {
  namedSymbols,
  nameSeeds,
  renameSymbol,
  runSymbols,
  type SymbolNames,
  symbolNamed,
  symbolNames,
  symbolTitle,
  titleOf,
} from './analysis/names.ts';
export { drawNetwork, walkedNetwork } from './analysis/network-drawing.ts';
export { languageRun, openRun } from './analysis/opened.ts';
export { runReport } from './analysis/report.ts';
export { plainJson, type Results, writeResults } from './analysis/results.ts';
export { type RunCorpus, runCorpus } from './analysis/run-corpus.ts';
export {
  attentionSheet,
  degreeSheet,
  divergenceSheet,
  graphSheet,
  interpolationSheet,
  symbolSheet,
  typicalSheet,
} from './analysis/sheets.ts';
export {
  changesBetween,
  type DecoderComparison,
  type StageChanges,
  withEfficiency,
} from './analysis/stages.ts';
export { knownMeanings, storedMeanings } from './analysis/stored-meanings.ts';
export { type SymbolFigures, symbolFigures } from './analysis/symbol-figures.ts';
export { SymbolTally } from './analysis/symbol-tally.ts';
export { type SymbolYears, symbolYears } from './analysis/symbol-years.ts';
export { RUN_TABLES, type RunTable, runTable } from './analysis/tables.ts';
export { textColumn, textTimes, timeColumnOf, walksBy } from './analysis/text-columns.ts';
export { textMap } from './analysis/text-map.ts';
export { shareNumber, unsureTexts } from './analysis/unsure.ts';
export { wordsOf } from './analysis/words.ts';
export {
  comparisonFigure,
  comparisonSheets,
  comparisonTables,
  comparisonText,
} from './comparison/group-sheets.ts';
export {
  compareGroups,
  type GroupComparison,
} from './comparison/groups.ts';
export { PERIODS, type PeriodLength } from './comparison/periods.ts';
export { type LabelPrediction, predictLabels } from './comparison/prediction.ts';
export {
  predictionFigure,
  predictionSheets,
  predictionTable,
  predictionText,
} from './comparison/prediction-sheets.ts';
export { studyTime, type TimeStudy } from './comparison/time.ts';
export { burstSheet, timeFigureOf, timeTables } from './comparison/time-sheets.ts';
export { communitiesOf } from './evaluation/communities.ts';
export { degreeFigure } from './evaluation/degree-figure.ts';
export { GRAPH_FORMATS, type GraphFormat, graphText, nodesCsv } from './evaluation/graph-export.ts';
export { studyGraph } from './evaluation/graph-samples.ts';
export { graphStatistics } from './evaluation/graph-statistics.ts';
export { Judge } from './evaluation/judge.ts';
export { type LabelledWalks, type LabelMaps, labelMaps } from './evaluation/label-maps.ts';
export { type Sheet, sheetText } from './evaluation/sheets.ts';
export { drawRecovery, mostLikelyGraph, recoveryText, walkExamples } from './evaluation/showcase.ts';
export { exportLanguage } from './export.ts';
export { npmiCoherence } from './measures/coherence.ts';
export { embeddingCoherence } from './measures/embedding-coherence.ts';
export { spearman } from './measures/rank-correlation.ts';
export { readReference } from './measures/reference-texts.ts';
export { withoutStays } from './measures/step-weights.ts';
export type { SubsampleStability } from './measures/subsample-stability.ts';
export { referenceWindow } from './measures/topic-figures.ts';
export { askNames, type NamedSymbol, SENT, storeNames } from './naming/ask-names.ts';
export { type ChatServer, isLoopback, parseEndpoint } from './naming/chat-client.ts';
export { readSearch } from './reasoning/answers.ts';
export { type ExplainedCandidate, explainedCandidates, explainerOf } from './reasoning/explained.ts';
export { explainedMixture, type MixedCandidate, reasonedCandidates } from './reasoning/explained-mixture.ts';
export type { WalkExplainer } from './reasoning/explanation.ts';
export {
  type AnswerMixture,
  type FittedMixture,
  openMixture,
  trainMixture,
} from './reasoning/mixture-run.ts';
export { evaluateAnswers, evaluateReasoning } from './reasoning/table3.ts';
export { table3Caption, table3Text } from './reasoning/table3-text.ts';
export { TABLE_FORMATS, type TableFormat, writeTable } from './table-files.ts';
export { WALK_FORMATS, type WalkFormat, walkSink } from './walk-files.ts';
