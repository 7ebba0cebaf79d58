import { columnsOf, type Sheet, type SheetCell, wordCell } from '../drawing/sheets.ts';
import type { GraphStudy, GraphSummary } from '../measures/graph-samples.ts';
import type { LabelMaps } from '../measures/label-maps.ts';
import { withoutStays } from '../measures/symbol-uses.ts';
import type { AttentionStudy } from '../symbols/attention.ts';
import type { SymbolMeaning } from '../symbols/meaning.ts';
import { type SymbolNames, symbolTitle, titleOf } from '../symbols/names.ts';
import type { Interpolation } from './interpolate-texts.ts';

/** Columns of the paper's table of graph statistics, and their values for one row. */
export const graphColumns = [
  ...['edges', 'diameter', 'distance', 'clustering', 'components', 'largest', 'loops'],
].map((title) => ({ title, align: 'right' as const, digits: 2 }));

export const graphCells = (of: GraphSummary): SheetCell[] => [
  ...[of.edges, of.diameter, of.averageDistance, of.clustering],
  ...[of.components, of.largestComponent, of.selfLoops],
];

export function graphSheet({ inferred, half, sameDensity }: GraphStudy): Sheet {
  return {
    name: 'graph-statistics',
    title: 'Graph statistics',
    caption: `Mean ± standard deviation over ${inferred.samples} sampled graphs of ${inferred.nodes} symbols. Edges join two different symbols; loops are counted apart and play no part in the other figures. Diameter and average distance are those of the largest component; clustering is the mean over symbols, 0 where there are fewer than two neighbours.`,
    columns: [{ title: 'graph' }, ...graphColumns],
    rows: [
      ['inferred', ...graphCells(inferred)],
      ['random, p = 0.5', ...graphCells(half)],
      [`random, as dense (p = ${inferred.density.toFixed(2)})`, ...graphCells(sameDensity)],
    ],
  };
}

export function degreeSheet({ inferred, half, sameDensity }: GraphStudy): Sheet {
  const all = [inferred, half, sameDensity];
  const most = Math.max(...all.map(({ degrees }) => degrees.length));
  const share = (of: GraphSummary, degree: number) => {
    const { mean = 0, sd = 0 } = of.degrees[degree] ?? {};
    return { mean, sd, count: of.samples };
  };
  return {
    ...{ name: 'degree-distribution', title: 'Degree distribution' },
    columns: columnsOf({ degree: null, inferred: 4, 'random p=0.5': 4, 'random same density': 4 }),
    rows: Array.from({ length: most }, (_, degree) => [degree, ...all.map((of) => share(of, degree))]),
  };
}

/** Divergence between labels. */
export function divergenceSheet(
  { maps }: LabelMaps,
  matrix: readonly (readonly number[])[],
  name: string,
): Sheet {
  return {
    name,
    title: 'Divergence between labels',
    caption:
      'Jensen–Shannon divergence of schema distributions in bits: 0 for equal, 1 for nothing in common.',
    columns: [{ title: 'label' }, ...maps.map(({ label }) => ({ title: label, digits: 3 }))],
    rows: maps.map(({ label }, a) => [label, ...matrix[a]!]),
  };
}

/** The symbols that speak most for each label. */
export function typicalSheet(
  { maps }: LabelMaps,
  names: SymbolNames,
  meanings: readonly Pick<SymbolMeaning, 'words'>[],
  most = 3,
): Sheet {
  return {
    name: 'label-symbols',
    title: 'Symbols that speak most for each label',
    caption:
      "Share is the part of the label's steps on the symbol, lift how many times its part of all steps; ranked by share · log₂ lift.",
    columns: columnsOf({ label: null, sentences: 'right', symbol: 'left', share: 3, lift: 2, words: null }),
    rows: maps.flatMap(({ label, sentences, typical }) =>
      typical
        .slice(0, most)
        .map(({ symbol, share, lift }, rank) => [
          ...(rank === 0 ? [label, sentences] : ['', '']),
          ...[symbolTitle(symbol, names), share, lift, wordCell(meanings[symbol]!.words, 5) ?? ''],
        ]),
    ),
  };
}

/** All symbols with their words. */
export function symbolSheet(meanings: readonly SymbolMeaning[], most = 6): Sheet {
  const used = meanings.filter(({ sentences }) => sentences > 0);
  const attends = used.some(({ attended }) => attended.length > 0);
  return {
    name: 'symbols',
    title: 'What symbols mean',
    caption: `Words by pointwise mutual information with the symbol in a sentence. ${used.length} of ${meanings.length} symbols are visited.`,
    columns: [
      ...columnsOf({ symbol: 'left', usage: 3, sentences: null, label: null, words: null }),
      ...(attends ? [{ title: 'attended by' }] : []),
    ],
    rows: used
      .toSorted((a, b) => b.usage - a.usage || a.symbol - b.symbol)
      .map(({ symbol, name, usage, sentences, labels, words, attended }) => [
        titleOf(symbol, name),
        ...[usage, sentences],
        labels[0] ? `${labels[0].label} ${Math.round(100 * labels[0].share)} %` : undefined,
        wordCell(words, most),
        ...(attends ? [wordCell(attended, most)] : []),
      ]),
  };
}

/** Table 7: KL between words in each layer. */
export function attentionSheet({ kl, klOverall, words, sentences }: AttentionStudy): Sheet {
  const counts = words.map(({ word, occurrences }) => `${word} ${occurrences}`).join(', ');
  return {
    name: 'attention-kl',
    title: 'Divergence between the symbols that words attend to',
    caption: `KL[a; b] in nats between distributions of the most attended symbol, for each head and then averaged over the heads of a layer; "all" is of attention averaged over layers and heads. One count is spread over all symbols first. Occurrences in ${sentences} sentences: ${counts}.`,
    columns: [
      { title: 'layer', align: 'left' },
      ...klOverall.map(({ a, b }) => ({ title: `KL(${a}, ${b})`, digits: 3 })),
    ],
    rows: [
      ...kl.map(({ layer, pairs }) => [String(layer), ...pairs.map((pair) => pair.kl)]),
      ['all', ...klOverall.map((pair) => pair.kl)],
    ],
  };
}

export function interpolationSheet(
  { first, second, steps, variant }: Interpolation,
  names: SymbolNames,
): Sheet {
  // Names have spaces of their own.
  const between = names.size > 0 ? ' → ' : ' ';
  return {
    name: 'interpolation',
    title: variant === 'window' ? 'Interpolation along the graph' : 'Interpolation symbol by symbol',
    columns: columnsOf({ step: 'left', walk: null, text: null }),
    rows: [
      ...(first.text === null ? [] : [['from', '', first.text]]),
      ...steps.map(({ walk, text, onGraph }, at) => [
        String(at),
        walk.map((symbol) => names.get(symbol) ?? String(symbol)).join(between) + (onGraph ? '' : ' *'),
        text,
      ]),
      ...(second.text === null ? [] : [['to', '', second.text]]),
    ],
  };
}

/** A sheet before it has the symbol's name. */
type Part = Pick<Sheet, 'name' | 'title' | 'columns' | 'rows'>;

/** Everything about one symbol. */
export function meaningSheets(one: SymbolMeaning): Sheet[] {
  const called = one.name === null ? `Symbol ${one.symbol}` : `Symbol ${one.symbol}, ${one.name}`;
  const said = one.description === undefined ? '' : ` (${one.description})`;
  return [...wordParts(one), ...walkParts(one)]
    .filter(({ rows }) => rows.length > 0)
    .map(({ name, title, ...table }) => ({
      name: `symbol-${one.symbol}-${name}`,
      title: name === 'usage' ? `${called}${said}: ${title}` : `${called}: ${title}`,
      ...table,
    }));
}

const wordParts = (one: SymbolMeaning): Part[] => [
  {
    name: 'usage',
    title: `in ${one.sentences} sentences, ${(100 * one.usage).toFixed(1)} % of what walks say; by step`,
    columns: one.usageByPosition.map((_, i) => ({ title: `step ${i + 1}`, digits: 3 })),
    rows: [one.usageByPosition],
  },
  {
    ...{ name: 'words', title: 'words by mutual information' },
    columns: columnsOf({ word: null, bits: 2, sentences: null }),
    rows: one.words.map(({ word, pmi, count }) => [word, pmi, count]),
  },
  {
    ...{ name: 'attended', title: 'words that attend to it' },
    columns: columnsOf({ word: null, share: 3, times: null }),
    rows: one.attended.map(({ word, share, count }) => [word, share, count]),
  },
  {
    ...{ name: 'labels', title: 'labels' },
    columns: columnsOf({ label: null, share: 3, lift: 2 }),
    rows: one.labels.map(({ label, share, lift }) => [label, share, lift]),
  },
];

const walkParts = (one: SymbolMeaning): Part[] => [
  {
    ...{ name: 'neighbours', title: 'neighbours' },
    columns: columnsOf({ symbol: 'left', texts: null, 'times chance': 1, from: 1, to: 1, probability: 3 }),
    rows: one.neighbours.map(({ symbol, name, probability, flow, lift, interval }) => [
      ...[titleOf(symbol, name), flow, lift, ...interval, probability],
    ]),
  },
  {
    ...{ name: 'sentences', title: 'representative sentences' },
    columns: columnsOf({ label: null, walk: null, sentence: null }),
    rows: one.examples.map(({ label, walk, text }) => [
      ...[label ?? undefined, withoutStays(walk).join(' '), text],
    ]),
  },
];
