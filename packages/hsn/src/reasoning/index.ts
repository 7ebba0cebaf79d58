export { type PathKind, type ReasoningConfig, reasoningConfigSchema } from './config.ts';
export { halfOf, TwoPartEncoder } from './encoder.ts';
export * from './evaluation.ts';
export type { ReasoningNetwork, TupleBatch, TupleKind } from './network.ts';
export { type Candidate, type CandidateOptions, openPath, openReasoner, Reasoner } from './open.ts';
export { type OpenedReasoning, openReasoning, openTuples } from './open-network.ts';
export { PathModel } from './path.ts';
export { type PathFigures, pathFigures } from './path-accuracy.ts';
export {
  createPathRun,
  PathTask,
  type PreparedPath,
  pathFolder,
  pathKinds,
  preparePath,
} from './path-task.ts';
export * from './planted.ts';
export {
  createReasoningRun,
  type PreparedReasoning,
  prepareReasoning,
  tupleRecord,
} from './prepare.ts';
export { readTuples, type TupleOptions } from './read-tuples.ts';
export { relationMeaning, relationToken } from './relations.ts';
export { type ReasoningFigures, ReasoningTask } from './task.ts';
export { type Tuple, type TupleCorpus, tupleNotes } from './tuples.ts';
export { type Continuation, continueWalks, type SearchOptions } from './walk-search.ts';
export { TupleWalks } from './walks.ts';
