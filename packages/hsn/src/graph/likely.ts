import type { JsonValue } from '@hidden-schema/base';
import { call, scope, type Tensor, withoutGrad } from '@hidden-schema/torch';
import type { GraphPosterior } from './posterior.ts';

/** Above this a link is more probable than not: such links are the graph that is walked on, counted and drawn. */
export const LIKELY_LINK = 0.5;

export const isLikely = (probability: number): boolean => probability > LIKELY_LINK;

/** A_ij of 0 and 1 from link probabilities, both [K, K]. */
export const likelyLinks = (probabilities: Tensor): Tensor => probabilities.gt(LIKELY_LINK).to('float32');

/** How many pairs of different symbols are linked, by symmetric link probabilities [K, K]. */
export const countLikelyLinks = (probabilities: Tensor): number =>
  scope(() => call('triu', likelyLinks(probabilities), 1).sum().item());

/** Links less probable than this are left out of `graph.json`. */
const leastProbability = 0.01;

interface Graphed {
  readonly graph: GraphPosterior;
}

/** q(A_ij = 1) as plain numbers, row-major [K, K]. */
export const linkProbabilities = ({ graph }: Graphed): Float64Array =>
  withoutGrad(() => Float64Array.from(graph.links().matrix().toNumbers()));

/** Links as [i, j, probability], those too improbable left out. */
export function linkRecords(model: Graphed, K: number): JsonValue[] {
  const probabilities = linkProbabilities(model);
  const links: JsonValue[] = [];
  for (let i = 0; i < K; i++)
    for (let j = i; j < K; j++) {
      const p = probabilities[i * K + j]!;
      if (p >= leastProbability) links.push([i, j, Number(p.toFixed(6))]);
    }

  return links;
}
