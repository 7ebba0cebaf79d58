/// <reference types="node" preserve="true" />
/**
 * Hidden Schema Networks: give it texts, and it discovers a graph of K symbols behind them, and writes each text as a
 * walk of L symbols on that graph.
 *
 * @example
 * import { open, texts, train } from 'hidden-schema-networks';
 *
 * await train(texts('speeches.csv'), { out: 'run', symbols: 50, length: 5 });
 * using schema = await open('run');
 * const [first] = await schema.encode(['The Treasury has a surplus.']);
 * console.log(first!.walk, await schema.generate(first!.walk));
 *
 * @module hidden-schema-networks
 */

export { UserError } from '@hidden-schema/base';
export {
  type LanguageFigures,
  listRuns,
  type MetricsRow,
  type RunSummary,
  readMetrics,
  type Seed,
  type StepMetrics,
  type SyntheticEvaluation,
  type TrainEvent,
  VERSION,
  type Verification,
  verifyRun,
  type WritingOptions,
} from '@hidden-schema/hsn';
export type {
  EncodedText,
  EncodingOptions,
  ExplainedText,
  Found,
  GroupComparison,
  InterpolationOptions,
  InterpolationStep,
  LabelPrediction,
  RunUpdate,
  SymbolEdit,
  SymbolExample,
  SymbolGroup,
  SymbolLevel,
  SymbolLevels,
  SymbolMeaning,
  TimeStudy,
} from '@hidden-schema/studies';
export { passagesOf } from '@hidden-schema/text';
export {
  EngineError,
  type EngineInfo,
  engineInfo,
  setThreads,
  TorchError,
  useDevice,
} from '@hidden-schema/torch';
export { open, Schema } from './schema.ts';
export { type Link, SchemaGraph } from './schema-graph.ts';
export type {
  CompareOptions,
  EvaluateOptions,
  ExportOptions,
  Figures,
  FindOptions,
  OpenOptions,
  TimeOptions,
} from './schema-options.ts';
export {
  synthetic,
  type TextItem,
  type TextOptions,
  type Texts,
  texts,
  tuples,
} from './texts.ts';
export {
  type Settings,
  type TrainedRun,
  type TrainOptions,
  type TrainStage,
  train,
} from './train.ts';
