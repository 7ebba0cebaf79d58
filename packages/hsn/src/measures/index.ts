export * from './agreement.ts';
export { type RankedWord, symbolWords } from './c-tf-idf.ts';
export {
  type Coherence,
  type CoherenceOptions,
  cvCoherence,
  gensimEpsilon,
  npmiCoherence,
} from './coherence.ts';
export type { Labelling } from './contingency.ts';
export { type CorpusStopWordOptions, corpusStopWords } from './corpus-stop-words.ts';
export * from './document-terms.ts';
export * from './embedding-coherence.ts';
export { linearReaderAccuracy, type ReaderAccuracy, walkFeatures } from './linear-reader.ts';
export * from './logistic-regression.ts';
export { englishStopWords } from './stop-words.ts';
export { namesFromWords } from './symbol-names.ts';
export { oneSymbolEach, type SymbolUses } from './symbol-uses.ts';
export * from './text-words.ts';
export * from './tf-idf.ts';
export { countingWords, type TokenizeOptions } from './tokenize.ts';
export * from './topic-diversity.ts';
export * from './walk-information.ts';
