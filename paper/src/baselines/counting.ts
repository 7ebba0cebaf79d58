import type { CorpusSplit } from '@hidden-schema/hsn/tasks/synthetic/corpus/reader';
import { type LinkScores, linksFromTraversals } from './links.ts';

/**
 * Counting of neighbouring tokens: each token is split over the symbols whose bags hold it, and each pair of
 * neighbours adds to the pairs of their symbols. Exact where bags are disjoint, blind where they are not.
 */
export function countPairs(
  split: CorpusSplit,
  length: number,
  bags: { nodes: number; probabilities: Float64Array },
): LinkScores {
  const K = bags.nodes;
  const V = bags.probabilities.length / K;
  const beliefs = symbolsOfTokens(bags.probabilities, K, V);
  const traversals = new Float64Array(K * K);
  for (let sentence = 0; sentence < split.count; sentence++) {
    for (let i = 1; i < length; i++) {
      const at = sentence * length + i;
      for (const [j, p] of beliefs[split.tokens[at - 1]!]!)
        for (const [k, q] of beliefs[split.tokens[at]!]!) traversals[j * K + k]! += p * q;
    }
  }
  return linksFromTraversals(traversals, K, 1);
}

/** p(symbol | token) with all symbols equally likely before, as sparse lists. */
function symbolsOfTokens(probabilities: Float64Array, K: number, V: number): [number, number][][] {
  return Array.from({ length: V }, (_, token) => {
    const holders: [number, number][] = [];
    let total = 0;
    for (let k = 0; k < K; k++) {
      const p = probabilities[k * V + token]!;
      if (p > 0) holders.push([k, p]);
      total += p;
    }
    return holders.map(([k, p]) => [k, p / total]);
  });
}
