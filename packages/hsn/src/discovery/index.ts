export { type Discovered, type EncodedPoints, encodePoints } from './encode.ts';
export { type FitGiven, type FittedSymbols, fitSymbols, type SweepRecord } from './fit.ts';
export { type DiscoveryOptions, discoveryDefaults, discoveryOptions } from './options.ts';
export { fitPointSpace, type PointOptions, type PointSpace, pointDefaults, toPoints } from './point-space.ts';
export { loadDiscovery, type SavedDiscovery, saveDiscovery } from './saved.ts';
export type { SparseRows } from './sparse.ts';
export { encodeTexts, type TextVectorOptions } from './text-vectors.ts';
export { type StoredVectorOptions, textVectors } from './vector-store.ts';
