import path from 'node:path';
import type { OpenedRun } from '@hidden-schema/hsn';
import { linkProbabilities } from '@hidden-schema/hsn/graph/link-records';
import type { ExportedGraph } from '../evaluation/graph-export.ts';
import { linksOf, runLayout } from './layout.ts';
import type { SymbolMeaning } from './meaning.ts';
import { symbolNames } from './names.ts';

const mostWords = 10;

/** A run's graph for other programs: links of at least a probability, symbols with what is known of them. */
export function exportedGraph(
  run: OpenedRun,
  options: { least?: number; meanings?: readonly SymbolMeaning[] } = {},
): ExportedGraph {
  const { least = 0.5, meanings = [] } = options;
  const layout = runLayout(run);
  const names = symbolNames(run.run);
  const nodes = Array.from({ length: run.symbols }, (_, symbol) => {
    const known = meanings[symbol];
    return {
      symbol,
      name: names.get(symbol) ?? null,
      words: known?.words.slice(0, mostWords).map(({ word }) => word) ?? [],
      usage: known?.usage ?? 0,
      x: layout[2 * symbol]!,
      y: layout[2 * symbol + 1]!,
      labels: Object.fromEntries(known?.labels.map(({ label, share }) => [label, share]) ?? []),
    };
  });
  const links = linksOf(linkProbabilities(run.model), run.symbols, least);
  const title = `Schema network of ${path.basename(run.run.directory)}, links of probability ≥ ${least}`;
  return { title, nodes, links: links.map(([i, j, p]) => [i, j, Number(p.toFixed(6))]) };
}
