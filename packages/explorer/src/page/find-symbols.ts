import type { Graph } from './client.ts';

const MOST = 8;

/** Symbols whose number, name or tokens match; whole matches first, then the most used. */
export function findSymbols(nodes: Graph['nodes'], query: string): Graph['nodes'] {
  const wanted = query.trim().toLowerCase();
  if (wanted === '') return [];
  const rank = (node: Graph['nodes'][number]): number => {
    const texts = [String(node.symbol), node.name ?? '', ...node.tokens].map((text) => text.toLowerCase());
    if (texts.includes(wanted)) return 0;
    if (texts.some((text) => text.startsWith(wanted))) return 1;
    return texts.some((text) => text.includes(wanted)) ? 2 : 3;
  };
  return nodes
    .map((node) => ({ node, at: rank(node) }))
    .filter(({ at }) => at < 3)
    .sort((a, b) => a.at - b.at || b.node.usage - a.node.usage)
    .slice(0, MOST)
    .map(({ node }) => node);
}
