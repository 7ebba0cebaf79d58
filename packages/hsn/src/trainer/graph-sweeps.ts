import { noGrad, scope, zeros } from '@hidden-schema/torch';
import type { CorpusSplit } from '../corpus/index.ts';
import type { ClosedFormPosterior } from '../graph/index.ts';
import type { HiddenSchemaNetwork } from '../model.ts';
import { tokensFrom } from './batch.ts';

/** More sentences than this add nothing to a sweep that the running mean of training does not. */
const sweepLimit = 20_000;
const chunk = 1000;

/** One expectation step over the training sentences, then the graph's coordinate step. Returns mean log p(x). */
export function sweep(
  model: HiddenSchemaNetwork,
  graph: ClosedFormPosterior,
  split: CorpusSplit,
  length: number,
): number {
  const total = Math.min(sweepLimit, split.count);
  return scope(() =>
    noGrad(() => {
      const K = model.shape.symbols;
      const dtype = graph.traversals.dtype;
      const traversals = zeros([K, K], { dtype });
      const start = zeros([K], { dtype });
      let likelihood = 0;
      for (let first = 0; first < total; first += chunk) {
        scope(() => {
          const tokens = tokensFrom({ ...split, count: total }, length, first, chunk);
          const smoothed = model.smooth(tokens, graph);
          const share = tokens.dim(0) / total;
          traversals.add_(smoothed.traversals, share);
          start.add_(smoothed.start, share);
          likelihood += smoothed.logLikelihood.sum().item();
        });
      }
      graph.observe(traversals, start, 1);
      return likelihood / total;
    }),
  );
}
