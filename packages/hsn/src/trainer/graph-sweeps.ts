import { noGrad, scope, zeros } from '@hidden-schema/torch';
import type { CorpusSplit, SyntheticCorpus } from '../corpus/index.ts';
import type { ClosedFormPosterior } from '../graph/index.ts';
import { UserError } from '../errors.ts';
import type { HiddenSchemaNetwork } from '../model.ts';
import type { Smoothed } from '../walk/index.ts';
import { tokensFrom } from './batch.ts';

/** Mean log p(x) of a sentence, before the sweep's own update. */
export interface SweepResult {
  train: number;
  valid: number;
}

const chunk = 1000;
const validationLimit = 2000;
/** A sweep gains when the validation sentences gain this many nats each. */
const leastGain = 1e-4;
const patience = 3;

/** How sweeps have gone so far; part of a checkpoint. */
export interface SweepState {
  count: number;
  /** Best mean log p(x) of the validation sentences, and how many sweeps ago it was. */
  best: number | null;
  since: number;
}

export const noSweeps: SweepState = { count: 0, best: null, since: 0 };

export function afterSweep({ count, best, since }: SweepState, { valid }: SweepResult): SweepState {
  const gained = best === null || valid > best + leastGain;
  return { count: count + 1, best: Math.max(best ?? valid, valid), since: gained ? 0 : since + 1 };
}

/** Sweeps end when the validation sentences have not gained for a few of them. */
export function sweepsSettled({ since }: SweepState): boolean {
  return since >= patience;
}

/** One expectation step over the training sentences, then the graph's coordinate step. */
export function sweep(
  model: HiddenSchemaNetwork,
  graph: ClosedFormPosterior,
  corpus: SyntheticCorpus,
): SweepResult {
  const { train, valid } = corpus.splits;
  return scope(() =>
    noGrad(() => {
      const K = model.shape.symbols;
      const dtype = graph.traversals.dtype;
      const sums = {
        traversals: zeros([K, K], { dtype }),
        certainty: zeros([K, K], { dtype }),
        start: zeros([K], { dtype }),
      };
      const limit = Math.min(model.config.graph.sweepSentences, train.count);
      const trained = smoothSplit(model, graph, train, corpus.length, limit, (smoothed, share) => {
        sums.traversals.add_(smoothed.traversals, share);
        sums.certainty.add_(smoothed.certainty, share);
        sums.start.add_(smoothed.start, share);
      });
      const held = smoothSplit(model, graph, valid, corpus.length, Math.min(validationLimit, valid.count));
      if (!Number.isFinite(trained + held))
        throw new UserError(
          `graph sweep: log p(x) is ${trained} (valid: ${held}); the graph before it is kept. Try a larger objective.noise`,
        );
      graph.observe(sums, 1);
      return { train: trained, valid: held };
    }),
  );
}

/** Smooths the first sentences of a split in chunks; returns their mean log p(x). */
function smoothSplit(
  model: HiddenSchemaNetwork,
  graph: ClosedFormPosterior,
  split: CorpusSplit,
  length: number,
  limit: number,
  take: (smoothed: Smoothed, share: number) => void = () => {},
): number {
  let likelihood = 0;
  for (let first = 0; first < limit; first += chunk) {
    scope(() => {
      const tokens = tokensFrom({ ...split, count: limit }, length, first, chunk);
      const smoothed = model.smooth(tokens, graph);
      take(smoothed, tokens.dim(0) / limit);
      likelihood += smoothed.logLikelihood.sum().item();
    });
  }
  return likelihood / limit;
}
