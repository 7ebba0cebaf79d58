import type { JsonValue } from '@hidden-schema/base';
import type { SyntheticCorpus } from './corpus/reader.ts';
import { linkProbabilities } from './evaluation.ts';
import type { SyntheticNetwork } from './network.ts';

/** Links less probable than this are left out of `graph.json`. */
const leastProbability = 0.01;

/** The inferred graph as `graph.json`: symbols with their tokens, links with their probabilities. */
export function graphRecord(model: SyntheticNetwork, corpus: SyntheticCorpus): JsonValue {
  const K = model.shape.symbols;
  const V = corpus.vocabulary.length;
  const bags = corpus.bags?.probabilities;
  const tokensOf = (k: number) => corpus.vocabulary.filter((_, v) => (bags?.[k * V + v] ?? 0) > 0);
  const nodes = Array.from({ length: K }, (_, k) => ({ symbol: k, tokens: tokensOf(k) }));
  return { symbols: K, nodes, links: linkRecords(model, K) };
}

/** Links as [i, j, probability], those too improbable left out. */
export function linkRecords(model: Parameters<typeof linkProbabilities>[0], K: number): JsonValue[] {
  const probabilities = linkProbabilities(model);
  const links: JsonValue[] = [];
  for (let i = 0; i < K; i++) {
    for (let j = i; j < K; j++) {
      const p = probabilities[i * K + j]!;
      if (p >= leastProbability) links.push([i, j, Number(p.toFixed(6))]);
    }
  }
  return links;
}
