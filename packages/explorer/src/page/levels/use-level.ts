import { useMemo } from 'preact/hooks';
import type { Client, Graph, Labels, Run } from '../client.ts';
import { latest, useLoaded } from '../loading.ts';
import type { Texts } from '../texts/use-texts.ts';
import { type Grouping, groupedGraph, groupedLabels, groupedTexts, groupingOf } from './grouped.ts';

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
  const opened = run?.opened?.features.includes('levels') ? run.opened : null;
  const asked = opened && level >= 2 && level < opened.symbols ? level : null;
  const key = asked === null ? null : `${run!.id} ${opened!.identity} ${asked}`;
  const loaded = useLoaded(key, async (signal) => {
    const { levels, symbols, identity } = await client.levels([asked!], signal);
    return groupingOf(levels[0]!, symbols, identity);
  });
  const found = asked === null ? null : latest(loaded);
  return found?.identity === opened?.identity ? found : null;
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
