export { type Fault, faultMessage } from './faults.ts';
export {
  type Adjacency,
  degrees,
  edgeCount,
  edgeList,
  emptyGraph,
  GRAPH_DEFAULTS,
  GRAPH_KINDS,
  GRAPH_PARAMETERS,
  type GraphKind,
  type GraphModel,
  type GraphOptions,
  type GraphParameter,
  graphFaults,
  graphModel,
  hasEdge,
  isGraphKind,
  neighbourLists,
  type RandomGraph,
  randomGraph,
} from './graphs.ts';
export { Random, type RandomState } from './random.ts';
export { type CorpusSplit, type ReadOptions, readSyntheticCorpus, type SyntheticCorpus } from './reader.ts';
export {
  drawLanguage,
  SentenceSampler,
  type Sentences,
  type Split,
  SYNTHETIC_DEFAULTS,
  type SyntheticLanguage,
  type SyntheticSettings,
  splitCounts,
  syntheticFaults,
} from './synthetic.ts';
export type { Bags } from './truth.ts';
export { THEMES, type Theme, type Topic } from './word-topics.ts';
export {
  drawWords,
  WORD_DEFAULTS,
  WORDS_FORMAT,
  type WordLanguage,
  type WordNode,
  WordSampler,
  type WordSentence,
  type WordSettings,
  type WordsRecord,
  wordFaults,
  writeWordsCorpus,
} from './words.ts';
export { type CorpusRecord, type SplitName, type WriteOptions, writeSyntheticCorpus } from './writer.ts';
