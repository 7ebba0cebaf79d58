import type { Labels } from '../client.ts';
import type { TextData } from '../texts/text-data.ts';
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

/** A label's colour; grey where labels are not there yet. */
export const colourOf = (labels: Labels | null, name: string): string =>
  labelColour(labels?.maps.findIndex(({ label }) => label === name) ?? -1);

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

/** Where the walks of the selected texts go on the graph. */
export function selectionMap(data: TextData, selected: Uint8Array, count: number): LabelMap {
  const { walks, length, symbols } = data;
  const nodes = new Array<number>(symbols).fill(0);
  const links = new Map<number, number>();
  for (let n = 0; n < selected.length; n++) {
    if (selected[n] === 0) continue;
    for (let at = n * length; at < (n + 1) * length; at++) {
      nodes[walks[at]!]! += 1 / (count * length);
      if (at === n * length) continue;
      const key = pairKey(walks[at - 1]!, walks[at]!);
      links.set(key, (links.get(key) ?? 0) + 1 / (count * Math.max(1, length - 1)));
    }
  }
  const most = nodes.reduce((largest, share) => Math.max(largest, share), 1e-12);
  let mostLink = 1e-12;
  for (const share of links.values()) mostLink = Math.max(mostLink, share);
  return { label: 'selected texts', colour: '#2563c9', sentences: count, nodes, most, links, mostLink };
}
