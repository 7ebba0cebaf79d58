import { LIKELY_LINK, linkProbabilities } from '@hidden-schema/hsn/graph/likely';
import type { OpenedRun } from '@hidden-schema/hsn/open';
import { barGrid } from '../drawing/bar-figure.ts';
import { heatFigure } from '../drawing/heat-figure.ts';
import { labelFigure } from '../drawing/label-figure.ts';
import type { NamedFigure } from '../drawing/results.ts';
import type { LabelMap, LabelMaps } from '../measures/label-maps.ts';
import type { AttentionStudy } from '../symbols/attention.ts';
import { linksOf, runLayout } from '../symbols/layout.ts';
import { type SymbolNames, symbolNames, symbolTitle } from '../symbols/names.ts';

/** Schema distributions on the run's stored layout. */
export function drawLabelMaps(run: OpenedRun, maps: readonly LabelMap[], title: string): NamedFigure {
  const names = symbolNames(run.run);
  const svg = labelFigure(maps, {
    title,
    layout: runLayout(run),
    links: linksOf(linkProbabilities(run.model), run.symbols, LIKELY_LINK),
    nameOf: (symbol) => names.get(symbol) ?? String(symbol),
  });
  return { name: 'label-maps', title, svg };
}

export function drawDivergence({ maps, divergence }: LabelMaps): NamedFigure {
  const labels = maps.map(({ label }) => label);
  const title = 'Divergence between labels (Jensen–Shannon, bits)';
  const svg = heatFigure({ title, rows: labels, columns: labels, values: divergence, digits: 3 });
  return { name: 'label-divergence', title, svg };
}

/** The most attended symbols: of each layer with heads averaged (Figure 7), then of each head (Figures 8 to 10). */
export function drawAttention(study: AttentionStudy, names: SymbolNames = new Map()): NamedFigure[] {
  const { words, byLayer, byHead, layers, heads } = study;
  const columns = words.map(({ word, occurrences }) => `${word} (${occurrences})`);
  const nameOf = (symbol: number) => (names.has(symbol) ? symbolTitle(symbol, names) : String(symbol));
  const subtitle = 'share of occurrences for which a symbol is attended to most; symbols from left to right';
  const grid = (
    name: string,
    title: string,
    rows: string[],
    of: (word: number, row: number) => Float64Array,
  ) => {
    const values = rows.map((_, row) => words.map((__, word) => of(word, row)));
    return { name, title, svg: barGrid({ title, subtitle, rows, columns, values, nameOf }) };
  };
  const numbered = (what: string, count: number) =>
    Array.from({ length: count }, (_, i) => `${what} ${i + 1}`);
  return [
    grid(
      'attention-layers',
      'Most attended symbols, heads averaged',
      numbered('layer', layers),
      (word, layer) => byLayer[word]![layer]!,
    ),
    ...numbered('layer', layers).map((title, layer) =>
      grid(
        `attention-layer-${layer + 1}-heads`,
        `Most attended symbols, ${title}, each head`,
        numbered('head', heads),
        (word, head) => byHead[word]![layer]![head]!,
      ),
    ),
  ];
}
