export { chooseSymbols, type SymbolChoice } from './choose.ts';
export { SparseSpool } from './count-blocks.ts';
export { dictionaryOf, unitRows } from './dictionary.ts';
export { type Discovered, type EncodedPoints, encodePoints, stepCounts } from './encode.ts';
export {
  type FitGiven,
  type FittedDictionary,
  type FittedSymbols,
  fitDictionary,
  fitSymbols,
  type SweepRecord,
  travelledLinks,
} from './fit.ts';
export { groupsAt, type Joining, joinSymbols, type SymbolNearness } from './hierarchy.ts';
export { linkProbabilities } from './links.ts';
export { type DiscoveryOptions, discoveryDefaults, discoveryOptions } from './options.ts';
export { columnsOf, pieceCounts, tellingPieces } from './pieces.ts';
export {
  fitPointSpace,
  fitSharedSpace,
  type PointOptions,
  type PointSpace,
  pointDefaults,
  toPoints,
} from './point-space.ts';
export { type PointSource, ownPart, sourceOf } from './point-source.ts';
export { pursue } from './pursuit.ts';
export { type PointBatch, PursuitEncoder, type PursuitSizes } from './pursuit-encoder.ts';
export type { SparseRows } from './sparse.ts';
export { sphericalMeans } from './spherical-means.ts';
export { encoderTokens, encodeTexts, type OpenedEncoder, type TextVectorOptions } from './text-vectors.ts';
export type { VectorRows } from './vector-rows.ts';
export { RowSpool } from './row-spool.ts';
export { type StoredVectorOptions, storedVectors, textVectors, vectorFolder } from './vector-store.ts';
