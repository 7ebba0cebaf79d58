import type { JsonValue } from '@hidden-schema/base';
import { noGrad, scope } from '@hidden-schema/torch';
import type { GraphPosterior } from './posterior.ts';

/** Links less probable than this are left out of `graph.json`. */
const leastProbability = 0.01;

interface Graphed {
  readonly graph: GraphPosterior;
}

/** q(A_ij = 1) as plain numbers, row-major [K, K]. */
export function linkProbabilities({ graph }: Graphed): Float64Array {
  return scope(() => noGrad(() => Float64Array.from(graph.links().matrix().toNumbers())));
}

/** Links as [i, j, probability], those too improbable left out. */
export function linkRecords(model: Graphed, K: number): JsonValue[] {
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
