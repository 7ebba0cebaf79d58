import path from 'node:path';
import { csvText } from '@hidden-schema/base';
import type { OpenedRun } from '@hidden-schema/hsn';
import { linkProbabilities } from '@hidden-schema/hsn/graph/likely';
import { escapeXml } from '../drawing/svg.ts';
import { linksOf, runLayout } from '../symbols/layout.ts';
import type { SymbolMeaning } from '../symbols/meaning.ts';
import { symbolNames } from '../symbols/names.ts';

// By hand: graphology-gexf writes control characters that XML forbids, and graphology-graphml writes nothing.

export const GRAPH_FORMATS = ['gexf', 'graphml', 'json', 'csv'] as const;
export type GraphFormat = (typeof GRAPH_FORMATS)[number];

export interface ExportedNode {
  symbol: number;
  name: string | null;
  /** Words that say most of it. */
  words: readonly string[];
  /** Share of steps. */
  usage: number;
  /** Place on the stored layout. */
  x: number;
  y: number;
  /** Share of each label among the symbol's sentences. */
  labels: Readonly<Record<string, number>>;
}

/** A run's graph as other programs read it. */
export interface ExportedGraph {
  title: string;
  nodes: readonly ExportedNode[];
  /** i ≤ j and the probability of the link. */
  links: readonly (readonly [i: number, j: number, probability: number])[];
}

/** The graph in a format; as CSV its links, which `nodesCsv` completes. */
export function graphText(graph: ExportedGraph, format: GraphFormat): string {
  switch (format) {
    case 'gexf':
      return gexf(graph);
    case 'graphml':
      return graphml(graph);
    case 'json':
      return `${JSON.stringify(graph, null, 2)}\n`;
    case 'csv':
      return csvText([['source', 'target', 'probability'], ...graph.links]);
  }
}

/** The symbols as CSV. */
export function nodesCsv({ nodes }: ExportedGraph): string {
  const labels = labelNames(nodes);
  return csvText([
    ['symbol', 'name', 'words', 'usage', 'x', 'y', ...labels.map((label) => `label:${label}`)],
    ...nodes.map((node) => [
      ...[node.symbol, node.name ?? '', node.words.join(' '), node.usage, node.x, node.y],
      ...labels.map((label) => shareOf(node, label)),
    ]),
  ]);
}

const labelNames = (nodes: readonly ExportedNode[]): string[] => [
  ...new Set(nodes.flatMap(({ labels }) => Object.keys(labels))),
];

/** A label may be called as a property that every object has, such as `constructor`. */
const shareOf = ({ labels }: ExportedNode, label: string): number =>
  Object.hasOwn(labels, label) ? labels[label]! : 0;

type Attribute = { title: string; type: 'string' | 'double'; of: (node: ExportedNode) => string | number };

function attributes(nodes: readonly ExportedNode[]): Attribute[] {
  return [
    { title: 'name', type: 'string', of: ({ name }) => name ?? '' },
    { title: 'words', type: 'string', of: ({ words }) => words.join(' ') },
    { title: 'usage', type: 'double', of: ({ usage }) => usage },
    ...labelNames(nodes).map(
      (label): Attribute => ({
        title: `label ${label}`,
        type: 'double',
        of: (node) => shareOf(node, label),
      }),
    ),
  ];
}

const declaration = '<?xml version="1.0" encoding="UTF-8"?>';
const shown = ({ symbol, name }: ExportedNode): string => name ?? String(symbol);
/** Programs spread a layout over hundreds of units. */
const spread = 1000;

/** GEXF 1.3, as Gephi reads it. */
function gexf({ title, nodes, links }: ExportedGraph): string {
  const columns = attributes(nodes);
  return [
    declaration,
    '<gexf xmlns="http://gexf.net/1.3" xmlns:viz="http://gexf.net/1.3/viz" version="1.3">',
    `<meta><description>${escapeXml(title)}</description></meta>`,
    '<graph defaultedgetype="undirected" mode="static">',
    '<attributes class="node">',
    ...columns.map(
      ({ title: name, type }, at) => `<attribute id="${at}" title="${escapeXml(name)}" type="${type}"/>`,
    ),
    '</attributes>',
    '<nodes>',
    ...nodes.map((node) =>
      [
        `<node id="${node.symbol}" label="${escapeXml(shown(node))}"><attvalues>`,
        ...columns.map(({ of }, at) => `<attvalue for="${at}" value="${escapeXml(String(of(node)))}"/>`),
        `</attvalues><viz:position x="${spread * node.x}" y="${-spread * node.y}" z="0"/></node>`,
      ].join(''),
    ),
    '</nodes>',
    '<edges>',
    ...links.map(([i, j, p], at) => `<edge id="${at}" source="${i}" target="${j}" weight="${p}"/>`),
    '</edges>',
    '</graph>',
    '</gexf>',
    '',
  ].join('\n');
}

function graphml({ title, nodes, links }: ExportedGraph): string {
  const columns: Attribute[] = [
    { title: 'label', type: 'string', of: shown },
    { title: 'x', type: 'double', of: ({ x }) => spread * x },
    { title: 'y', type: 'double', of: ({ y }) => spread * y },
    ...attributes(nodes),
  ];
  return [
    declaration,
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
    ...columns.map(
      ({ title: name, type }, at) =>
        `<key id="d${at}" for="node" attr.name="${escapeXml(name)}" attr.type="${type}"/>`,
    ),
    '<key id="w" for="edge" attr.name="weight" attr.type="double"/>',
    `<graph id="schema" edgedefault="undirected"><desc>${escapeXml(title)}</desc>`,
    ...nodes.map((node) => {
      const data = columns.map(({ of }, at) => `<data key="d${at}">${escapeXml(String(of(node)))}</data>`);
      return `<node id="${node.symbol}">${data.join('')}</node>`;
    }),
    ...links.map(([i, j, p]) => `<edge source="${i}" target="${j}"><data key="w">${p}</data></edge>`),
    '</graph>',
    '</graphml>',
    '',
  ].join('\n');
}

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
