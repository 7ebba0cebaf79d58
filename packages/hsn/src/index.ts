export { type LanguageConfig, languageConfigSchema } from './config/language.ts';
export { type SyntheticConfig, syntheticOptions } from './config/network.ts';
export { loadConfig, type RunConfig, syntheticConfig } from './config/settings.ts';
export { discoveringDefaults } from './config/settings-schema.ts';
export {
  type PathChoice,
  type PathKind,
  type ReasoningConfig,
  reasoningConfigSchema,
} from './config/tuples.ts';
export { BagDecoder } from './decoder/bag.ts';
export type { SymbolChoice } from './discovery/choose.ts';
export { fitSymbols } from './discovery/fit.ts';
export { discoveryDefaults } from './discovery/options.ts';
export { fitPointSpace } from './discovery/point-space.ts';
export { toPoints } from './discovery/points.ts';
export type { Seed } from './discovery/seeds.ts';
export { textVectors } from './discovery/vectors/vector-store.ts';
export type { TrainEvent } from './driver/prepared.ts';
export { train as driveTraining } from './driver/train.ts';
export { meanPooled, WalkEncoder, WalkQueries } from './encoder/walk-queries.ts';
export { ClosedFormPosterior } from './graph/closed-form.ts';
export { LIKELY_LINK, likelyLinks, linkProbabilities } from './graph/likely.ts';
export { FreeLogits } from './graph/posterior.ts';
export type { GraphPrior, GraphPriorMaker } from './graph/prior.ts';
export {
  type Decoder,
  type Encoder,
  HiddenSchemaNetwork,
  type Likelihood,
  type ModelSpec,
  type NetworkParts,
  type Schema,
} from './model.ts';
export { nameCorpus } from './name-corpus.ts';
export { type LossTerms, type ObjectiveOptions, objective } from './objective/objective.ts';
export { type LanguageRun, type OpenedRun, open, type SyntheticRun, type WalkReader } from './open.ts';
export { checkpointSteps, loadCheckpoint, verifyCheckpoint } from './run/checkpoint.ts';
export { CheckpointWriter } from './run/checkpoint-writer.ts';
export { type Diagnosis, diagnose } from './run/diagnosis.ts';
export { EventWriter } from './run/events.ts';
export { type MetricsRow, readMetrics } from './run/metrics.ts';
export { MetricsFollower } from './run/metrics-follower.ts';
export { Run } from './run/run.ts';
export { VERSION } from './run/run-record.ts';
export { listRuns, type RunSummary, type Verification, verifyRun } from './run/run-summary.ts';
export { Session } from './run/session.ts';
export type { SessionOptions, SessionResult } from './run/session-checkpoint.ts';
export { makeNetwork } from './tasks/language/build.ts';
export type { LanguageEvaluationOptions } from './tasks/language/evaluation.ts';
export type { LanguageNetwork } from './tasks/language/network.ts';
export { schemaOf } from './tasks/language/network.ts';
export { type OpenedLanguage, openLanguage, openLanguageCorpus } from './tasks/language/open.ts';
export type { StepNats } from './tasks/language/perplexity.ts';
export { type PreparedLanguage, prepareLanguage } from './tasks/language/prepare.ts';
export { type LanguageFigures, LanguageTask, languageFigures } from './tasks/language/task.ts';
export { createLanguageRun, textInput, textRecord } from './tasks/language/text-record.ts';
export { LanguageTexts, type WritingOptions } from './tasks/language/texts.ts';
export type { PaperCorpus } from './tasks/paper-corpora.ts';
export type { Fault } from './tasks/synthetic/corpus/faults.ts';
export {
  type Adjacency,
  edgeList,
  emptyGraph,
  GRAPH_DEFAULTS,
  type GraphOptions,
  randomGraph,
} from './tasks/synthetic/corpus/graphs.ts';
export { readSyntheticCorpus, type SyntheticCorpus } from './tasks/synthetic/corpus/reader.ts';
export { SYNTHETIC_DEFAULTS, type SyntheticSettings } from './tasks/synthetic/corpus/synthetic.ts';
export {
  WORD_DEFAULTS,
  type WordSettings,
  type WordsRecord,
  writeWordsCorpus,
} from './tasks/synthetic/corpus/words.ts';
export { type CorpusRecord, type SplitName, writeSyntheticCorpus } from './tasks/synthetic/corpus/writer.ts';
export { evaluateSynthetic, type SyntheticEvaluation } from './tasks/synthetic/evaluation.ts';
export { sweepUntilSettled } from './tasks/synthetic/graph-sweeps.ts';
export {
  exactMarginals,
  type ModelShape,
  type SyntheticNetwork,
  syntheticNetwork,
} from './tasks/synthetic/network.ts';
export { type OpenedModel, openSyntheticRun } from './tasks/synthetic/open.ts';
export { SyntheticTask } from './tasks/synthetic/task.ts';
export type { CometCandidate } from './tasks/tuples/comet.ts';
export { openReasoning, openTuples } from './tasks/tuples/open.ts';
export type { PathFigures } from './tasks/tuples/path/path-accuracy.ts';
export { countPath, createPathRun, PathTask, preparePath } from './tasks/tuples/path/path-task.ts';
export { type CandidateOptions, openReasoner, Reasoner } from './tasks/tuples/path/reasoner.ts';
export { createReasoningRun, prepareReasoning } from './tasks/tuples/prepare.ts';
export { readTuples } from './tasks/tuples/read-tuples.ts';
export { type ReasoningFigures, ReasoningTask } from './tasks/tuples/task.ts';
export { TrainedWalks } from './tasks/tuples/trained-walks.ts';
export type { Tuple } from './tasks/tuples/tuples.ts';
export type { RivalFigures } from './text-run.ts';
export { Replicas } from './train/replicas.ts';
export type { Preparation, Task, TaskTrainer } from './train/task.ts';
export { counted } from './train/train-events.ts';
export { type Loss, type StepMetrics, Trainer, type Training } from './train/trainer.ts';
export { Updater } from './train/updater.ts';
export type { BestWalk } from './walk/best.ts';
export { WalkDistribution } from './walk/chain.ts';
export type { WalkPosterior } from './walk/posterior.ts';
export { type SchemaProcess, type SchemaProcessMaker, WalkPrior } from './walk/processes.ts';
export { type IsolatedRule, WalkableGraph } from './walk/walkable-graph.ts';
