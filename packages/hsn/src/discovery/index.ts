export { type Discovered, type EncodedPoints, encodePoints } from './encode.ts';
export { type FitGiven, type FittedSymbols, fitSymbols, type SweepRecord } from './fit.ts';
export { type DiscoveryOptions, discoveryDefaults, discoveryOptions } from './options.ts';
export { columnsOf, pieceCounts, tellingPieces } from './pieces.ts';
export { fitPointSpace, type PointOptions, type PointSpace, pointDefaults, toPoints } from './point-space.ts';
export { type PointBatch, PursuitEncoder, type PursuitSizes } from './pursuit-encoder.ts';
export type { SparseRows } from './sparse.ts';
export { encoderTokens, encodeTexts, type OpenedEncoder, type TextVectorOptions } from './text-vectors.ts';
export { type StoredVectorOptions, textVectors, vectorFolder } from './vector-store.ts';
