import { Random, UserError } from '@hidden-schema/base';
import { scope, withoutGrad, zeros } from '@hidden-schema/torch';
import type { ClosedFormPosterior } from '../../graph/closed-form.ts';
import { Replicas } from '../../train/replicas.ts';
import type { Smoothed } from '../../walk/smoothing.ts';
import type { CorpusSplit, SyntheticCorpus } from './corpus/reader.ts';
import { type SyntheticNetwork, smoothed, tokensOf } from './network.ts';

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
export const sweepsSettled = ({ since }: SweepState): boolean => since >= patience;

/** Sweeps a graph at most `sweeps` times, until they gain nothing more; `look` is called after each. */
export function sweepUntilSettled(
  task: { sweepGraph(): SweepResult | undefined },
  sweeps: number,
  look: () => void = () => {},
): void {
  let state = noSweeps;
  while (state.count < sweeps && !sweepsSettled(state)) {
    const result = task.sweepGraph();
    if (result === undefined) return;
    state = afterSweep(state, result);
    look();
  }
}

/** One expectation step over the training sentences, then the graph's coordinate step. */
export function sweep(
  model: SyntheticNetwork,
  graph: ClosedFormPosterior,
  corpus: SyntheticCorpus,
  replicas: Replicas = Replicas.alone,
): SweepResult {
  const { train, valid } = corpus.splits;
  return withoutGrad(() => {
    const K = model.shape.symbols;
    const dtype = graph.traversals.dtype;
    const sums = {
      traversals: zeros([K, K], { dtype }),
      certainty: zeros([K, K], { dtype }),
      start: zeros([K], { dtype }),
    };
    const limit = Math.min(model.config.graph.sweepSentences, train.count);
    const { seed } = model.config;
    const smooth = { model, graph, replicas };
    const trained = smoothSplit(smooth, train, drawnRows(train, limit, seed), (found, share) => {
      sums.traversals.add_(found.traversals, share);
      sums.certainty.add_(found.certainty, share);
      sums.start.add_(found.start, share);
    });
    replicas.sum(Object.values(sums));
    const held = smoothSplit(smooth, valid, drawnRows(valid, validationLimit, seed));
    if (!Number.isFinite(trained + held))
      throw new UserError(
        `graph sweep: log p(x) is ${trained} (valid: ${held}); the graph before it is kept. Try a larger objective.noise`,
      );
    graph.observe(sums, 1);
    return { train: trained, valid: held };
  });
}

/** Some sentences of a split, drawn by the seed, or all of them where there are no more. */
function drawnRows(split: CorpusSplit, limit: number, seed: number): Int32Array {
  const all = Int32Array.from({ length: split.count }, (_, i) => i);
  return split.count <= limit ? all : new Random(seed).shuffle(all).subarray(0, limit);
}

/** Smooths this process's part of a split's sentences, in chunks; returns the mean log p(x) of all. */
function smoothSplit(
  { model, graph, replicas }: { model: SyntheticNetwork; graph: ClosedFormPosterior; replicas: Replicas },
  split: CorpusSplit,
  rows: Int32Array,
  take: (found: Smoothed, share: number) => void = () => {},
): number {
  let likelihood = 0;
  const own = replicas.stretch(rows.length);
  for (let first = own.first; first < own.end; first += chunk)
    scope(() => {
      const some = rows.subarray(first, Math.min(own.end, first + chunk));
      const tokens = tokensOf(split, model.shape.length, some);
      const found = smoothed(model, { tokens }, graph);
      take(found, tokens.dim(0) / rows.length);
      likelihood += found.logLikelihood.sum().item();
    });

  return replicas.total(likelihood) / rows.length;
}
