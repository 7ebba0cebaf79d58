import type { Graph } from '../client.ts';

/** All that decides how the graph looks. */
export interface Scene {
  graph: Graph;
  threshold: number;
  /** Compare with the true graph. */
  truth: boolean;
  selected: number | null;
  hovered: number | null;
  walk: readonly number[] | null;
  dark: boolean;
  /** Each symbol's label, where symbols are coloured so. */
  labels: readonly SymbolLabel[] | null;
  /** The label whose distribution is drawn, if one is. */
  map: LabelMap | null;
}

/** The label that passes a symbol most, beyond its share of all sentences. */
export interface SymbolLabel {
  colour: string;
  /** How clearly it does: 0 when all labels pass alike, 1 when no other does. */
  clear: number;
}

/** A label's distribution over symbols and links, as in the paper's map. */
export interface LabelMap {
  label: string;
  colour: string;
  sentences: number;
  /** Share of steps on each symbol; the largest of all maps is full size. */
  nodes: readonly number[];
  most: number;
  /** Shares of traversals by pair, and the largest of all maps. */
  links: ReadonlyMap<number, number>;
  mostLink: number;
}

export type Status = 'plain' | 'correct' | 'extra' | 'missing';

export interface DrawnLink {
  i: number;
  j: number;
  /** 0 for a true link that was not found at all. */
  probability: number;
  isTrue: boolean;
}

/** Symbols are fewer than this, so that a pair is one number. */
const PAIR = 2 ** 21;
export const pairKey = (i: number, j: number): number => (i < j ? i * PAIR + j : j * PAIR + i);

/** Links of a graph with what is known of the truth, and true links that were not found. */
export function drawnLinks(graph: Graph): DrawnLink[] {
  const truth = new Set((graph.truth ?? []).map(([i, j]) => pairKey(i, j)));
  const links = graph.links
    .filter(([i, j]) => i !== j)
    .map(([i, j, probability]) => ({ i, j, probability, isTrue: truth.delete(pairKey(i, j)) }));
  const missed = [...truth].map((key) => ({
    ...{ i: Math.floor(key / PAIR), j: key % PAIR },
    ...{ probability: 0, isTrue: true },
  }));
  return [...links, ...missed];
}

export function statusOf(link: DrawnLink, scene: Pick<Scene, 'threshold' | 'truth'>): Status | null {
  const found = link.probability >= scene.threshold;
  if (!scene.truth) return found ? 'plain' : null;
  if (found) return link.isTrue ? 'correct' : 'extra';
  return link.isTrue ? 'missing' : null;
}

export function countLinks(
  links: readonly DrawnLink[],
  scene: Scene,
): Record<Status, number> & { shown: number } {
  const counts = { plain: 0, correct: 0, extra: 0, missing: 0, shown: 0 };
  for (const link of links) {
    const status = statusOf(link, scene);
    if (status === null) continue;
    counts[status]++;
    if (status !== 'missing') counts.shown++;
  }
  return counts;
}

/** Steps between neighbouring symbols of a walk, as pairs without direction. */
export function walkPairs(walk: readonly number[] | null): [number, number][] {
  const pairs = new Map<number, [number, number]>();
  for (let at = 1; at < (walk?.length ?? 0); at++) {
    const [i, j] = [walk![at - 1]!, walk![at]!];
    if (i !== j) pairs.set(pairKey(i, j), [Math.min(i, j), Math.max(i, j)]);
  }
  return [...pairs.values()];
}
