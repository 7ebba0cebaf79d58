import type { Labels } from '../client.ts';
import { labelColour } from './colours.ts';
import { type LabelMap, pairKey, type SymbolLabel } from './scene.ts';

/** The maps of some labels, drawn to one scale so that they compare. */
export function mapsOf(labels: Labels, names: readonly string[]): LabelMap[] {
  const chosen = names.flatMap((name) => labels.maps.filter(({ label }) => label === name));
  const most = largest(chosen.map(({ nodes }) => largest(nodes)));
  const mostLink = largest(chosen.map(({ links }) => links[0]?.[2] ?? 0));
  return chosen.map(({ label, sentences, nodes, links }) => ({
    ...{ label, sentences, nodes, most, mostLink },
    colour: colourOf(labels, label),
    links: new Map(links.map(([i, j, share]) => [pairKey(i, j), share])),
  }));
}

export const colourOf = ({ maps }: Labels, name: string): string =>
  labelColour(maps.findIndex(({ label }) => label === name));

/** The label that passes each symbol most, as if all labels had as many sentences. */
export function symbolLabels({ maps }: Labels): SymbolLabel[] {
  const symbols = maps[0]?.nodes.length ?? 0;
  return Array.from({ length: symbols }, (_, k) => {
    const shares = maps.map(({ nodes }) => nodes[k]!);
    const sum = shares.reduce((total, share) => total + share, 0);
    const best = shares.indexOf(Math.max(...shares));
    const even = 1 / shares.length;
    const clear = sum === 0 ? 0 : (shares[best]! / sum - even) / (1 - even);
    return { colour: labelColour(best), clear };
  });
}

const largest = (values: readonly number[]): number =>
  values.reduce((most, value) => Math.max(most, value), 1e-12);
