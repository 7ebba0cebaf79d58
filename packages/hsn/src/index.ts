export { memberSums, nearestCentre } from './clusters.ts';
export { discoveringDefaults } from './config/defaults.ts';
export { type LanguageConfig, languageConfigSchema } from './config/language.ts';
export { type SyntheticConfig, syntheticOptions } from './config/network.ts';
export {
  isRival,
  ivaeConfigSchema,
  optimusConfigSchema,
  rivalNames,
  vqConfigSchema,
} from './config/rivals.ts';
export {
  dumpConfig,
  languageConfig,
  loadConfig,
  type RunConfig,
  settingValues,
  syntheticConfig,
  tuplesConfig,
} from './config/settings.ts';
export {
  type PathChoice,
  type PathKind,
  type ReasoningConfig,
  reasoningConfigSchema,
} from './config/tuples.ts';
export { BagDecoder } from './decoder/bag.ts';
export type { SymbolChoice } from './discovery/choose.ts';
export { encodePoints } from './discovery/encode.ts';
export { type FittedSymbols, fitSymbols } from './discovery/fit.ts';
export { groupsAt, type Joining, joinSymbols } from './discovery/hierarchy.ts';
export { discoveryDefaults, discoveryOptions } from './discovery/options.ts';
export { columnsOf, pieceCounts, tellingPieces } from './discovery/pieces.ts';
export { fitPointSpace, toPoints } from './discovery/point-space.ts';
export { rememberedVectors } from './discovery/text-memory.ts';
export { encoderTokens } from './discovery/text-vectors.ts';
export { textVectors } from './discovery/vector-store.ts';
export { meanPooled, WalkEncoder, WalkQueries } from './encoder/walk-queries.ts';
export { ClosedFormPosterior } from './graph/closed-form.ts';
export { isLikely, LIKELY_LINK, likelyLinks } from './graph/likely.ts';
export { linkProbabilities, linkRecords } from './graph/link-records.ts';
export { FreeLogits } from './graph/posterior.ts';
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
export {
  type LanguageRun,
  type OpenedRun,
  open,
  type ReasoningRun,
  type SyntheticRun,
  type WalkReader,
} from './open.ts';
export { type ReadObjects, readObjects, scoreWithoutWalks, scoreWithWalks } from './path/judged.ts';
export { aboveGuessing, type PathFigures } from './path/path-accuracy.ts';
export {
  countPath,
  createPathRun,
  PathTask,
  pathChoices,
  pathFolder,
  pathKinds,
  preparePath,
  storedPathFigures,
} from './path/path-task.ts';
export {
  type Candidate,
  type CandidateOptions,
  openReasoner,
  openTrainedWalks,
  Reasoner,
  reasonerOf,
} from './path/reasoner.ts';
export {
  evaluateRival,
  type RivalFigures,
} from './rivals/evaluation.ts';
export { type OpenedRival, openRival } from './rivals/open.ts';
export { loadCheckpoint, verifyCheckpoint } from './run/checkpoint.ts';
export { bestStep, checkpointSteps } from './run/checkpoint-folder.ts';
export { CheckpointWriter, saveCheckpoint } from './run/checkpoint-writer.ts';
export { closingRun } from './run/closing.ts';
export { corpusPlaces, recordedPlaces, rememberCorpus } from './run/corpus-places.ts';
export { type Diagnosis, diagnose } from './run/diagnosis.ts';
export type { EditRecord } from './run/edit-record.ts';
export { editsIn } from './run/edits.ts';
export { EventWriter, readEvents } from './run/events.ts';
export { type MetricsRow, readMetrics } from './run/metrics.ts';
export { MetricsFollower } from './run/metrics-follower.ts';
export { editNames } from './run/name-edit.ts';
export { Progress } from './run/progress.ts';
export { Run, refuseEdits } from './run/run.ts';
export { DamagedFile, EditUnfinished, RunChanged, reportDamage } from './run/run-faults.ts';
export { RunFiles } from './run/run-files.ts';
export { type CorpusInfo, isRunFolder, VERSION } from './run/run-record.ts';
export {
  describeRun,
  evaluationFigures,
  listRuns,
  type RunSummary,
  type Verification,
  verifyRun,
} from './run/run-summary.ts';
export { checkRunFolder } from './run/run-target.ts';
export { Session } from './run/session.ts';
export type { SessionOptions, SessionResult } from './run/session-terms.ts';
export { makeNetwork } from './tasks/language/build.ts';
export type { CorpusPoints } from './tasks/language/corpus-vectors.ts';
export { usesPursuit } from './tasks/language/discovery.ts';
export { checkEditable, editSymbols, undoEdit } from './tasks/language/edit.ts';
export { baselinePerplexity, type LanguageEvaluationOptions } from './tasks/language/evaluation.ts';
export type { LanguageNetwork } from './tasks/language/network.ts';
export {
  corpusColumn,
  type OpenedLanguage,
  openLanguage,
  openLanguageCorpus,
  openPoints,
} from './tasks/language/open.ts';
export { schemaOf } from './tasks/language/perplexity.ts';
export { type PreparedLanguage, prepareLanguage } from './tasks/language/prepare.ts';
export type { PrepareOptions, TextInput } from './tasks/language/prepare-texts.ts';
export { refitSubsamples, refitSymbols } from './tasks/language/refit.ts';
export { readSeeds, type Seed } from './tasks/language/seeds.ts';
export { splitChange } from './tasks/language/split.ts';
export { type StepNats, withAlone } from './tasks/language/step-nats.ts';
export { type LanguageFigures, LanguageTask, languageFigures } from './tasks/language/task.ts';
export { createLanguageRun, textInput, textRecord, textsAdopted } from './tasks/language/text-record.ts';
export { LanguageTexts, type WritingOptions } from './tasks/language/texts.ts';
export { textUpdate } from './tasks/language/update.ts';
export { convertPaperCorpus, type PaperCorpus } from './tasks/paper-corpora.ts';
export { ownEncoder } from './tasks/recorded-models.ts';
export { tokensFrom, tokensOf } from './tasks/synthetic/batch.ts';
export { convertAuthorsCorpus } from './tasks/synthetic/corpus/authors.ts';
export { type Fault, faultMessage } from './tasks/synthetic/corpus/faults.ts';
export {
  type Adjacency,
  edgeCount,
  edgeList,
  emptyGraph,
  GRAPH_DEFAULTS,
  type GraphKind,
  type GraphOptions,
  type GraphParameter,
  hasEdge,
  neighbourLists,
  randomGraph,
} from './tasks/synthetic/corpus/graphs.ts';
export {
  type CorpusSplit,
  readSyntheticCorpus,
  type SyntheticCorpus,
} from './tasks/synthetic/corpus/reader.ts';
export {
  type Split,
  SYNTHETIC_DEFAULTS,
  type SyntheticSettings,
  syntheticFaults,
} from './tasks/synthetic/corpus/synthetic.ts';
export {
  WORD_DEFAULTS,
  type WordSettings,
  type WordsRecord,
  wordFaults,
  writeWordsCorpus,
} from './tasks/synthetic/corpus/words.ts';
export {
  type CorpusRecord,
  SPLITS as SPLIT_NAMES,
  type SplitName,
  writeSyntheticCorpus,
} from './tasks/synthetic/corpus/writer.ts';
export {
  evaluateSynthetic,
  graphRecovery,
  linkLogits,
  type SyntheticEvaluation,
} from './tasks/synthetic/evaluation.ts';
export { graphRecord } from './tasks/synthetic/graph-record.ts';
export { afterSweep, noSweeps, sweepsSettled } from './tasks/synthetic/graph-sweeps.ts';
export {
  exactMarginals,
  type ModelShape,
  type SyntheticNetwork,
  syntheticNetwork,
} from './tasks/synthetic/network.ts';
export { type OpenedModel, openSyntheticRun } from './tasks/synthetic/open.ts';
export { rocAuc } from './tasks/synthetic/ranking.ts';
export { upperTriangle } from './tasks/synthetic/recovery.ts';
export { SyntheticTask } from './tasks/synthetic/task.ts';
export { checkTrainable } from './tasks/synthetic/training.ts';
export { tupleFrames } from './tasks/tuples/build.ts';
export { type CometCandidate, cometCandidates } from './tasks/tuples/comet.ts';
export { searchObjects } from './tasks/tuples/object-search.ts';
export {
  type OpenedReasoning,
  openReasoning,
  openTuples,
  prefixTable,
  promptTable,
  runTuples,
} from './tasks/tuples/open.ts';
export {
  createReasoningRun,
  type PreparedReasoning,
  prepareReasoning,
  tupleRecord,
} from './tasks/tuples/prepare.ts';
export { readTuples } from './tasks/tuples/read-tuples.ts';
export { NONE, relationMeaning } from './tasks/tuples/relations.ts';
export { type ReasoningFigures, ReasoningTask } from './tasks/tuples/task.ts';
export { TupleTokens } from './tasks/tuples/tokens.ts';
export { eventVectors, TrainedWalks } from './tasks/tuples/trained-walks.ts';
export { prefixesOf, type Tuple, type TupleCorpus } from './tasks/tuples/tuples.ts';
export type { WalkPath } from './tasks/tuples/walk-path.ts';
export { TupleWalks } from './tasks/tuples/walks.ts';
export {
  type PreparedRun,
  prepareTextRun,
  type TextRunConfig,
  textRunConfig,
} from './text-run.ts';
export { follow } from './train/follow.ts';
export { Replicas } from './train/replicas.ts';
export type { Preparation, Task, TaskTrainer } from './train/task.ts';
export { type Loss, type StepMetrics, Trainer, type Training } from './train/trainer.ts';
export { Updater } from './train/updater.ts';
export type { BestWalk } from './walk/best.ts';
export { WalkDistribution } from './walk/chain.ts';
export type { WalkPosterior } from './walk/posterior.ts';
export { smoothWalks } from './walk/smoothing.ts';
export { type IsolatedRule, WalkableGraph } from './walk/transition.ts';
