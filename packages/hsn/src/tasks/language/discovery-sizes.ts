import type { TextCorpus } from '@hidden-schema/text';
import { pointDefaults } from '../../discovery/point-space.ts';
import type { DiscoverySizes } from './build.ts';
import type { DiscoveryInputs } from './discovery.ts';

/** Symbols as wide as the points they are found among. */
export function withSymbolWidth<C extends { graph: { symbolDimension: number } }>(
  config: C,
  symbolDimension: number,
): C {
  return { ...config, graph: { ...config.graph, symbolDimension } };
}

/** Sizes of the space that a corpus is discovered in. */
export function discoverySizes(
  { pieces: { length }, passages }: Pick<DiscoveryInputs, 'pieces' | 'passages'>,
  { splits }: Pick<TextCorpus, 'splits'>,
): DiscoverySizes {
  const points = passages.rowsOf(splits.train).length;
  return { pieces: length, dimensions: Math.min(pointDefaults.wordDimensions, length, points) };
}
