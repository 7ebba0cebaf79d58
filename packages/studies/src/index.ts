export { sentenceAttention, studyAttention } from './analysis/attention.ts';
export { EncodedCorpus, type EncodingOptions, encodedCorpus, openEncoded } from './analysis/encoded.ts';
export { EncodedWriter } from './analysis/encoded-writer.ts';
export { exportedGraph } from './analysis/exported.ts';
export { drawAttention, drawDivergence, drawLabelMaps, type NamedFigure } from './analysis/figures.ts';
export {
  type Interpolation,
  type InterpolationOptions,
  type InterpolationStep,
  interpolateTexts,
  interpolateWalks,
} from './analysis/interpolate.ts';
export { linkedSymbols, linksOf, runLayout } from './analysis/layout.ts';
export { type SymbolExample, type SymbolMeaning, symbolMeanings } from './analysis/meaning.ts';
export { writeModelCard } from './analysis/model-card.ts';
export { renameSymbol, runSymbols, symbolNames, symbolNumber, symbolTitle } from './analysis/names.ts';
export { drawNetwork } from './analysis/network-drawing.ts';
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
export { wordsOf } from './analysis/words.ts';
export { degreeFigure, degreesFigure } from './evaluation/degree-figure.ts';
export { toPng } from './evaluation/figures.ts';
export { GRAPH_FORMATS, type GraphFormat, graphText, nodesCsv } from './evaluation/graph-export.ts';
export { studyGraph } from './evaluation/graph-samples.ts';
export { graphStatistics } from './evaluation/graph-statistics.ts';
export { type LabelledWalks, type LabelMaps, labelMaps } from './evaluation/label-maps.ts';
export { type Sheet, sheetText } from './evaluation/sheets.ts';
export { drawRecovery, mostLikelyGraph, recoveryText, walkExamples } from './evaluation/showcase.ts';
export { exportLanguage } from './export.ts';
export {
  type CurveOptions,
  type CurvePoint,
  curveFigure,
  curveMethods,
  recoveryCurves,
} from './reproduction/curves.ts';
export { sweepUntilSettled } from './reproduction/fit.ts';
export { attentionTable, graphTable, type StudiedRun } from './reproduction/language-tables.ts';
export { publishedAttention } from './reproduction/published-language.ts';
export { type Table1Options, type Table1Row, table1 } from './reproduction/table1.ts';
export { table1Text } from './reproduction/table1-page.ts';
export {
  type Table2Corpus,
  type Table2Model,
  type Table2Row,
  table2Corpora,
  table2Models,
  table2Sheet,
} from './reproduction/table2.ts';
export { readSearch } from './reasoning/answers.ts';
export { WalkExplainer } from './reasoning/explanation.ts';
export { evaluateReasoning } from './reproduction/table3.ts';
export { table3Caption, table3Text } from './reproduction/table3-text.ts';
export { checkTopicSizes } from './reproduction/topic-models.ts';
export { checkPython } from './reproduction/topic-peers.ts';
export { topicText } from './reproduction/topic-report.ts';
export { readTopicCorpus, type TopicCorpus } from './reproduction/topic-texts.ts';
export { comparedModels, compareTopics, type TopicResult } from './reproduction/topics.ts';
export { WALK_FORMATS, type WalkFormat, walkSink } from './walk-files.ts';
