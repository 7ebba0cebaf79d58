import type { JsonValue } from '@hidden-schema/base';
import { linkRecords } from '../../graph/link-records.ts';
import type { SyntheticCorpus } from './corpus/reader.ts';
import type { SyntheticNetwork } from './network.ts';

/** The inferred graph as `graph.json`: symbols with their tokens, links with their probabilities. */
export function graphRecord(model: SyntheticNetwork, corpus: SyntheticCorpus): JsonValue {
  const K = model.shape.symbols;
  const V = corpus.vocabulary.length;
  const bags = corpus.bags?.probabilities;
  const tokensOf = (k: number) => corpus.vocabulary.filter((_, v) => (bags?.[k * V + v] ?? 0) > 0);
  const nodes = Array.from({ length: K }, (_, k) => ({ symbol: k, tokens: tokensOf(k) }));
  return { symbols: K, nodes, links: linkRecords(model, K) };
}
