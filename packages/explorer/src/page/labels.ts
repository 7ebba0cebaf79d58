import type { Graph } from './client.ts';

type Node = Graph['nodes'][number];

/** What a symbol is called: its name, else its most probable tokens, else its number. */
export function title({ symbol, name, tokens }: Pick<Node, 'symbol' | 'name' | 'tokens'>): string {
  return name ?? (tokens.slice(0, 3).join(' ') || `theme ${symbol}`);
}

/** The same by number, which it stays where there is no such symbol, or no graph yet. */
export function titleIn(graph: Pick<Graph, 'nodes'> | null, symbol: number): string {
  const node = graph?.nodes[symbol];
  return node ? title(node) : String(symbol);
}

export const labelOf = (node: Node): string => `${node.symbol} ${title(node)}`.trim();

export function percent(p: number): string {
  if (p > 0 && p < 0.001) return '<0.1%';
  if (p < 1 && p > 0.999) return '>99.9%';
  return `${(100 * p).toFixed(p >= 0.0995 ? 0 : 1)}%`;
}

export const decimal = (x: number): string => {
  const size = Math.abs(x);
  if (Number.isInteger(x)) return x.toLocaleString('en');
  if (size >= 1000) return x.toLocaleString('en', { maximumFractionDigits: 0 });
  return size >= 0.001 || x === 0 ? String(Number(x.toPrecision(4))) : x.toExponential(2);
};

export const sentenceCase = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
