import Graph from 'graphology';
import gexf from 'graphology-gexf';
import graphml from 'graphology-graphml';
import { describe, expect, test } from 'vitest';
import { escapeXml } from '../src/drawing/svg.ts';
import { type ExportedGraph, graphText, nodesCsv } from '../src/runs/graph-export.ts';

/** Whatever may stand in a name, a word or a label. */
const hostile = [
  '<script>alert("1")</script> & \'x\'',
  'line\nbreak\r\ttab, "comma"',
  'control \u0000\u0001\u001b[31m\u007f\u0085',
  ']]> <!-- --> &amp; &#0; 日本語 😀',
  'half a pair \ud800 and \ufffe\uffff',
];
const node = (symbol: number) => ({
  symbol,
  name: symbol === 3 ? null : hostile[symbol]!,
  words: [hostile[(symbol + 1) % 5]!, 'plain'],
  usage: symbol / 10,
  x: symbol / 4,
  y: 1 - symbol / 4,
  labels: { [hostile[symbol]!]: 0.5, plain: 0.25 },
});
const graph: ExportedGraph = {
  title: hostile[0]!,
  nodes: [0, 1, 2, 3, 4].map(node),
  links: [
    [0, 1, 0.75],
    [2, 2, 0.5],
    [3, 4, 1],
  ],
};

const cleaned = (text: string) => text.replace(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, '\ufffd');

describe('a graph with any text in it is opened again by a parser', () => {
  test('GEXF', () => {
    const opened = gexf.parse(Graph, graphText(graph, 'gexf'), { allowUndeclaredAttributes: true });
    expect(opened.order).toBe(5);
    expect(opened.size).toBe(3);
    for (const { symbol, name, usage, words } of graph.nodes) {
      const attributes = opened.getNodeAttributes(symbol);
      expect(attributes.label).toBe(cleaned(name ?? String(symbol)));
      expect(attributes.usage).toBeCloseTo(usage, 12);
      expect(attributes.words).toBe(cleaned(words.join(' ')));
      expect(attributes['label plain']).toBe(0.25);
    }
    expect(opened.getEdgeAttribute(opened.edge(0, 1), 'weight')).toBe(0.75);
    expect(opened.hasEdge(2, 2)).toBe(true);
    expect(opened.getNodeAttributes(4)).toMatchObject({ x: 1000 });
  });

  test('GraphML', () => {
    const opened = graphml.parse(Graph, graphText(graph, 'graphml'));
    expect([opened.order, opened.size]).toEqual([5, 3]);
    for (const { symbol, name, usage } of graph.nodes) {
      const attributes = opened.getNodeAttributes(String(symbol));
      expect(attributes.label).toBe(cleaned(name ?? String(symbol)));
      expect(attributes.usage).toBeCloseTo(usage, 12);
    }
    expect(opened.getEdgeAttribute(opened.edge('0', '1'), 'weight')).toBe(0.75);
  });

  test('JSON holds everything', () => {
    expect(JSON.parse(graphText(graph, 'json'))).toEqual(graph);
  });

  test('CSV of links and of symbols', () => {
    expect(graphText(graph, 'csv')).toBe('source,target,probability\r\n0,1,0.75\r\n2,2,0.5\r\n3,4,1\r\n');
    const rows = parsedCsv(nodesCsv(graph));
    expect(rows).toHaveLength(6);
    expect(new Set(rows.map((row) => row.length)).size).toBe(1);
    for (const { symbol, name } of graph.nodes) expect(rows[symbol + 1]![1]).toBe(name ?? '');
  });
});

test('text for XML holds no character that XML forbids', () => {
  for (const text of hostile) expect(escapeXml(text)).not.toMatch(/[\p{Cc}\p{Cs}<>"']/u);
});

/** A reader of RFC 4180 of its own, so that the writer is not checked by itself. */
function parsedCsv(text: string): string[][] {
  const rows: string[][] = [[]];
  let cell = '';
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]!;
    if (quoted && sign === '"' && text[at + 1] === '"') {
      cell += text[++at];
    } else if (sign === '"') quoted = !quoted;
    else if (!quoted && sign === ',') {
      rows.at(-1)!.push(cell);
      cell = '';
    } else if (!quoted && text.startsWith('\r\n', at)) {
      rows.at(-1)!.push(cell);
      cell = '';
      rows.push([]);
      at++;
    } else cell += sign;
  }
  return rows.slice(0, -1);
}
