import { type LabelMap, pairKey } from '../graph/scene.ts';
import type { TextData } from './text-data.ts';

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
