import type { Graph } from './client.ts';

const MOST = 8;
const NO_MATCH = 4;

/** Symbols whose number, name or tokens match; its number first, then whole matches, then the most used. */
export function findSymbols(nodes: Graph['nodes'], query: string): Graph['nodes'] {
  const wanted = query.trim().toLowerCase();
  if (wanted === '') return [];
  const rank = (node: Graph['nodes'][number]): number => {
    if (String(node.symbol) === wanted) return 0;
    const texts = [String(node.symbol), node.name ?? '', ...node.tokens].map((text) => text.toLowerCase());
    if (texts.includes(wanted)) return 1;
    if (texts.some((text) => text.startsWith(wanted))) return 2;
    return texts.some((text) => text.includes(wanted)) ? 3 : NO_MATCH;
  };
  return nodes
    .map((node) => ({ node, at: rank(node) }))
    .filter(({ at }) => at < NO_MATCH)
    .sort((a, b) => a.at - b.at || b.node.usage - a.node.usage)
    .slice(0, MOST)
    .map(({ node }) => node);
}
