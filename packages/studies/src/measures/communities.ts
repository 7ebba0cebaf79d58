import { Random } from '@hidden-schema/base';
import Graph from 'graphology';
import louvain from 'graphology-communities-louvain';

/** Links that make communities. */
const LEAST_PROBABILITY = 0.1;

/**
 * Communities by Louvain's method over links [i, j, probability], numbered from the most used one. `usage` [K] is each
 * symbol's share of steps.
 */
export function communitiesOf(
  links: readonly (readonly [i: number, j: number, probability: number])[],
  usage: ArrayLike<number>,
): number[] {
  const symbols = usage.length;
  const graph = new Graph({ type: 'undirected' });
  for (let k = 0; k < symbols; k++) graph.addNode(k);
  for (const [i, j, weight] of links)
    if (i !== j && weight >= LEAST_PROBABILITY) graph.addEdge(i, j, { weight });
  const random = new Random(1);
  const found = louvain(graph, { getEdgeWeight: 'weight', rng: () => random.next() });
  const weights = new Map<number, number>();
  for (let k = 0; k < symbols; k++) weights.set(found[k]!, (weights.get(found[k]!) ?? 0) + usage[k]!);
  const ranked = [...weights].sort((a, b) => b[1] - a[1]).map(([community]) => community);
  return Array.from({ length: symbols }, (_, k) => ranked.indexOf(found[k]!));
}
