import { scaledLinks, strongestLinks } from '@hidden-schema/studies/drawing';
import type { Graph } from '../client.ts';

/** A link as it is drawn: i, j and how strong it is, from 0 to 1. */
export type StrongLink = readonly [i: number, j: number, strength: number];

/** More links of a symbol than this are a ball of wool. */
export const LINKS_OF_EACH = 3;

/** The few strongest links of each symbol: by what walks take, or by probability where walks go by chance. */
export function strongLinks(
  { strengths, links }: Pick<Graph, 'strengths' | 'links'>,
  ofEach: number,
): StrongLink[] {
  const known = strengths.map(([i, j, , , low]) => ({ i, j, interval: [low, low] as const }));
  if (known.length > 0) return scaledLinks(known, ofEach);
  const probable = links
    .filter(([i, j]) => i !== j)
    .map(([i, j, p]) => ({ i, j, p, interval: [1 + p, 1 + p] as const }));
  return strongestLinks(probable, ofEach).map(({ i, j, p }) => [i, j, p]);
}
