import type { Graph, Labels, Level } from '../client.ts';
import type { TextData } from '../texts/text-data.ts';

/** A run's symbols as fewer groups: the group of each symbol. */
export interface Grouping {
  level: Level;
  groupOf: Uint16Array;
  /** Of the run whose symbols they are. */
  identity: string;
}

export function groupingOf(level: Level, symbols: number, identity: string): Grouping {
  const groupOf = new Uint16Array(symbols);
  for (const { group, symbols: members } of level.groups)
    for (const symbol of members) groupOf[symbol] = group;
  return { level, groupOf, identity };
}

/** The graph with groups in place of symbols: between their symbols by use, linked as the most probable of their links. */
export function groupedGraph(graph: Graph, { level, groupOf }: Grouping): Graph {
  const layout: number[] = [];
  const nodes = level.groups.map(({ group, symbols, name, words }) => {
    const members = symbols.map((symbol) => graph.nodes[symbol]!);
    const usage = members.reduce((sum, node) => sum + node.usage, 0);
    for (const axis of [0, 1]) {
      const parts = members.map(({ symbol, usage: of }) => (of + 1e-9) * graph.layout[2 * symbol + axis]!);
      layout.push(parts.reduce((sum, part) => sum + part, 0) / (usage + 1e-9 * members.length));
    }
    const largest = members.reduce((best, node) => (node.usage > best.usage ? node : best));
    return { symbol: group, name, tokens: words, usage: Math.min(1, usage), community: largest.community };
  });
  const links = joined(graph.links, groupOf, Math.max).sort((a, b) => b[2] - a[2]);
  const flows = joined(
    graph.strengths.map(([i, j, flow]) => [i, j, flow] as const),
    groupOf,
    (a, b) => a + b,
  );
  const lows = joined(
    graph.strengths.map(([i, j, , , low]) => [i, j, low] as const),
    groupOf,
    Math.max,
  );
  const strengths = flows
    .map(([i, j, flow], at): Graph['strengths'][number] => [i, j, flow, lows[at]![2], lows[at]![2]])
    .sort((a, b) => b[4] - a[4]);
  return { ...graph, nodes, layout, links, strengths, truth: null };
}

type Links = readonly (readonly [number, number, number])[];

/** Links between groups; those within one are left out. */
function joined(
  links: Links,
  groupOf: Uint16Array,
  join: (a: number, b: number) => number,
): [number, number, number][] {
  const found = new Map<number, [number, number, number]>();
  for (const [i, j, value] of links) {
    const [low, high] = [groupOf[i]!, groupOf[j]!].sort((a, b) => a - b) as [number, number];
    if (low === high) continue;
    const key = low * 65_536 + high;
    found.set(key, [low, high, join(found.get(key)?.[2] ?? 0, value)]);
  }
  return [...found.values()];
}

/** Distributions of labels over groups. */
export function groupedLabels(labels: Labels, { level, groupOf }: Grouping): Labels {
  const maps = labels.maps.map((map) => {
    const nodes = new Array<number>(level.count).fill(0);
    for (const [symbol, share] of map.nodes.entries()) nodes[groupOf[symbol]!]! += share;
    const links = joined(map.links, groupOf, (a, b) => a + b).sort((a, b) => b[2] - a[2]);
    return { ...map, nodes, links };
  });
  return { ...labels, maps };
}

/** Walks over groups. */
export const groupedTexts = (data: TextData, { level, groupOf }: Grouping): TextData => ({
  ...data,
  symbols: level.count,
  walks: data.walks.map((symbol) => groupOf[symbol]!),
});
