import { useMemo } from 'preact/hooks';
import type { Client, Graph, Labels, Level, Run } from '../client.ts';
import { useOpened } from '../served.ts';
import type { TextData } from '../texts/text-data.ts';
import type { Texts } from '../texts/use-texts.ts';

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

/** What is drawn: of symbols, or of groups of them at a coarser level. */
export interface Drawn {
  graph: Graph;
  labels: Labels | null;
  texts: Texts | null;
  /** Null where symbols themselves are drawn. */
  grouping: Grouping | null;
}

/** The groups at a level of so many; null for none, and while they are read. */
export function useGrouping(client: Client, run: Run | null, level: number): Grouping | null {
  const asked = level >= 2 && level < (run?.opened?.symbols ?? 0) ? run : null;
  const load = async (signal: AbortSignal) => {
    const { levels, symbols, identity } = await client.levels({ counts: String(level) }, signal);
    return groupingOf(levels[0]!, symbols, identity);
  };
  const { value: found } = useOpened([asked, 'levels'], load, String(level));
  return found?.identity === run?.opened?.identity ? found : null;
}

export function useDrawn(
  of: Omit<Drawn, 'grouping' | 'graph'> & { graph: Graph | null },
  grouping: Grouping | null,
): Drawn | null {
  const { graph } = of;
  const symbols = graph?.nodes.length;
  // After an edit one comes before the other, and what is of other symbols waits.
  const texts = of.texts?.data.symbols === symbols ? of.texts : null;
  const labels = of.labels?.maps.every(({ nodes }) => nodes.length === symbols) ? of.labels : null;
  const groups = grouping?.identity === graph?.identity ? grouping : null;
  const drawnGraph = useMemo(() => (graph && groups ? groupedGraph(graph, groups) : graph), [graph, groups]);
  const drawnLabels = useMemo(
    () => (labels && groups ? groupedLabels(labels, groups) : labels),
    [labels, groups],
  );
  const data = useMemo(
    () => (texts && groups ? groupedTexts(texts.data, groups) : texts?.data),
    [texts?.data, groups],
  );
  const drawnTexts = useMemo(() => (texts && data ? { ...texts, data } : null), [texts, data]);
  if (!drawnGraph) return null;
  return { graph: drawnGraph, labels: drawnLabels, texts: drawnTexts, grouping: groups };
}
