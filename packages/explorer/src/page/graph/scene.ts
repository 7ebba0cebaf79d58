import { scaledLinks, strongestLinks } from '@hidden-schema/studies/drawing';
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
  /** Several walks at once, drawn the thicker the more of them pass; a single one goes before them. */
  paths: readonly (readonly number[])[] | null;
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
  /** From 0 to 1: how thick it is. */
  strength: number;
  isTrue: boolean;
}

/** Symbols are fewer than this, so that a pair is one number. */
const PAIR = 2 ** 21;
export const pairKey = (i: number, j: number): number => (i < j ? i * PAIR + j : j * PAIR + i);

/** A link as it is drawn: i, j and how strong it is, from 0 to 1. */
export type StrongLink = readonly [i: number, j: number, strength: number];

/** More links of a symbol than this are a ball of wool. */
export const LINKS_OF_EACH = 3;

/** The few strongest links of each symbol: by what walks take, or by probability where walks go by chance. */
export function strongLinks({ strengths, links }: Pick<Graph, 'strengths' | 'links'>): StrongLink[] {
  const known = strengths.map(([i, j, , , low]) => ({ i, j, interval: [low, low] as const }));
  if (known.length > 0) return scaledLinks(known, LINKS_OF_EACH);
  const probable = links
    .filter(([i, j]) => i !== j)
    .map(([i, j, p]) => ({ i, j, p, interval: [1 + p, 1 + p] as const }));
  return strongestLinks(probable, LINKS_OF_EACH).map(({ i, j, p }) => [i, j, p]);
}

/**
 * The strongest few links of each symbol; where the graph is compared with the truth all of them, and true links that were
 * not found.
 */
export function drawnLinks(graph: Graph, compared: boolean): DrawnLink[] {
  if (!compared)
    return strongLinks(graph).map(([i, j, strength]) => ({
      ...{ i, j, probability: 1, strength, isTrue: false },
    }));
  const truth = new Set((graph.truth ?? []).map(([i, j]) => pairKey(i, j)));
  const links = graph.links
    .filter(([i, j]) => i !== j)
    .map(([i, j, probability]) => ({
      ...{ i, j, probability, strength: probability, isTrue: truth.delete(pairKey(i, j)) },
    }));
  const missed = [...truth].map((key) => ({
    ...{ i: Math.floor(key / PAIR), j: key % PAIR },
    ...{ probability: 0, strength: 0, isTrue: true },
  }));
  return [...links, ...missed];
}

/** Probability of a link; 0 where it is too improbable to be sent. */
export function linkOf({ links }: Pick<Graph, 'links'>, a: number, b: number): number {
  const [i, j] = [Math.min(a, b), Math.max(a, b)];
  return links.find((link) => link[0] === i && link[1] === j)?.[2] ?? 0;
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

/** The walks that are highlighted. */
export const highlightedWalks = ({
  walk,
  paths,
}: Pick<Scene, 'walk' | 'paths'>): readonly (readonly number[])[] => (walk ? [walk] : (paths ?? []));

/** A step between neighbouring symbols, without direction, and the share of walks that take it. */
export interface SteppedPair {
  i: number;
  j: number;
  share: number;
}

/** Steps of walks; one that a walk takes twice counts once. */
export function steppedPairs(walks: readonly (readonly number[])[]): SteppedPair[] {
  const pairs = new Map<number, SteppedPair>();
  for (const walk of walks) {
    const taken = new Set<number>();
    for (let at = 1; at < walk.length; at++) {
      const [i, j] = [Math.min(walk[at - 1]!, walk[at]!), Math.max(walk[at - 1]!, walk[at]!)];
      const key = pairKey(i, j);
      if (i === j || taken.has(key)) continue;
      taken.add(key);
      pairs.set(key, { i, j, share: (pairs.get(key)?.share ?? 0) + 1 / walks.length });
    }
  }
  return [...pairs.values()];
}
