import { Random } from '@hidden-schema/base';
import Graph from 'graphology';
import louvain from 'graphology-communities-louvain';

export type Link = [i: number, j: number, probability: number];

/** Links less probable than this are never shown. */
export const LEAST_PROBABILITY = 0.01;
/** More links than this help nobody to see, and slow every page. */
export const MOST_LINKS = 50_000;
/** Links that make communities. */
const DRAWN_PROBABILITY = 0.1;

/** Communities by Louvain's method over link probabilities, numbered from the most used one. */
export function communitiesOf(symbols: number, links: readonly Link[], usage: Float64Array): number[] {
  const graph = new Graph({ type: 'undirected' });
  for (let k = 0; k < symbols; k++) graph.addNode(k);
  for (const [i, j, weight] of links)
    if (i !== j && weight >= DRAWN_PROBABILITY) graph.addEdge(i, j, { weight });
  const random = new Random(1);
  const found = louvain(graph, { getEdgeWeight: 'weight', rng: () => random.next() });
  const weights = new Map<number, number>();
  for (let k = 0; k < symbols; k++) weights.set(found[k]!, (weights.get(found[k]!) ?? 0) + usage[k]!);
  const ranked = [...weights].sort((a, b) => b[1] - a[1]).map(([community]) => community);
  return Array.from({ length: symbols }, (_, k) => ranked.indexOf(found[k]!));
}
