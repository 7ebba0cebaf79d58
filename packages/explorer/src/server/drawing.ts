import fs from 'node:fs';
import path from 'node:path';
import { layoutGraph, Random, writeJsonAtomic } from '@hidden-schema/hsn';
import Graph from 'graphology';
import louvain from 'graphology-communities-louvain';

export type Link = [i: number, j: number, probability: number];

/** Links less probable than this are never shown. */
export const LEAST_PROBABILITY = 0.01;
/** More links than this help nobody to see, and slow every page. */
const MOST_LINKS = 50_000;
/** Links that shape the picture. */
const DRAWN_PROBABILITY = 0.1;

/** Links of a symmetric matrix [K, K], most probable first, and how many more there are. */
export function linksOf(probabilities: Float64Array, symbols: number): { links: Link[]; leftOut: number } {
  const links: Link[] = [];
  for (let i = 0; i < symbols; i++) {
    for (let j = i; j < symbols; j++) {
      const p = Math.min(1, probabilities[i * symbols + j]!);
      if (p >= LEAST_PROBABILITY) links.push([i, j, p]);
    }
  }
  links.sort((a, b) => b[2] - a[2]);
  const leftOut = Math.max(0, links.length - MOST_LINKS);
  return { links: links.slice(0, MOST_LINKS), leftOut };
}

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

interface StoredLayout {
  step: number;
  positions: number[];
}

/** Positions of the nodes: those stored in the run for this checkpoint, else drawn now and stored. */
export function layoutOf(run: string, step: number, symbols: number, links: readonly Link[]): number[] {
  const file = path.join(run, 'layout.json');
  const stored = readLayout(file);
  if (stored?.step === step && stored.positions.length === 2 * symbols) return stored.positions;
  const drawn = links.filter(([, , p]) => p >= DRAWN_PROBABILITY);
  const positions = Array.from(layoutGraph(symbols, drawn), (x) => Math.round(x * 1e5) / 1e5);
  try {
    writeJsonAtomic(file, { step, positions });
  } catch {
    // A run that may only be read is drawn again the next time.
  }
  return positions;
}

function readLayout(file: string): StoredLayout | undefined {
  try {
    const { step, positions } = JSON.parse(fs.readFileSync(file, 'utf8')) as StoredLayout;
    const whole = Array.isArray(positions) && positions.every((x) => Number.isFinite(x));
    return whole ? { step, positions } : undefined;
  } catch {
    return undefined;
  }
}
