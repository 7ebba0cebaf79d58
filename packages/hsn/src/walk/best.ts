import { arange, int64, stack, type Tensor, withoutGrad } from '@hidden-schema/torch';
import { bestStep } from '../kernels.ts';
import type { WalkDistribution } from './chain.ts';
import type { MeanFieldWalks } from './mean-field.ts';
import type { Transition } from './transition.ts';

// Shapes: B sentences, L walk steps, K symbols.

/** The most probable walk of a sentence. */
export interface BestWalk {
  walk: number[];
  /** q(z_1|x), then q(z_i|z_{i-1}, x); their product is the walk's probability. */
  probabilities: number[];
  /** How much of the text each step tells, at least 0, where symbols are vectors that a text is composed of. */
  weights?: number[];
}

/** The most probable walks without a graph: each step by itself. */
export const bestSteps = ({ logMarginals }: MeanFieldWalks): BestWalk[] =>
  withoutGrad(() => listed(logMarginals));

function listed(logMarginals: readonly Tensor[]): BestWalk[] {
  const nodes = logMarginals.map((log) => log.argmax(-1).toNumbers());
  const best = logMarginals.map((log) => log.amax(-1).toNumbers());
  return nodes[0]!.map((_, b) => ({
    walk: nodes.map((step) => step[b]!),
    probabilities: best.map((step) => probability(step[b]!)),
  }));
}

/** Numbers in the largest tensor of a chunk. */
const chunkNumbers = 4_000_000;

/** The most probable walks on a graph, by dynamic programming. */
export const bestPaths = (posterior: WalkDistribution): BestWalk[] => withoutGrad(() => traced(posterior));

function traced(posterior: WalkDistribution): BestWalk[] {
  const { logStart, transitions } = posterior;
  const K = logStart.dim(1);
  const best = bestStepOn(posterior);
  let score = logStart; // log probability of the best walk that ends in each symbol
  const cameFrom: number[][] = [];
  for (const transition of transitions) {
    const { from, reached } = best(transition, score);
    cameFrom.push(from.toNumbers());
    score = reached;
  }
  const ends = score.argmax(-1).toNumbers();
  const walks = ends.map((end, b) => traceBack(end, b * K, cameFrom));
  return withProbabilities(posterior, walks);
}

/** Of all steps to each symbol the best one: where it comes from, and the walk's log probability then. [B, K] */
type BestStep = (transition: Transition, score: Tensor) => { from: Tensor; reached: Tensor };

/**
 * log Q_jk = log R_jk − log D_j + log f_k in the paper's form (Eq. 6), and log f_k does not matter for the choice of j.
 * Isolated nodes and the symmetric form have no such parts.
 */
function bestStepOn({ graph, transitions }: WalkDistribution): BestStep {
  const apart = transitions.every(({ splits }) => splits) && !graph.hasIsolated;
  if (!apart) return bestListedStep;
  const logRows = graph.rows.log(); // [from, to]
  return ({ split }, score) => {
    const { best, from } = bestStep(score.sub(split!.source), logRows);
    return { from, reached: best.add(split!.target) };
  };
}

/** All ways listed, from some symbols at a time. */
const bestListedStep: BestStep = (transition, score) => {
  const [B, K] = score.shape as [number, number];
  const atOnce = Math.max(1, Math.floor(chunkNumbers / (B * K)));
  let found: { from: Tensor; reached: Tensor } | undefined;
  for (let first = 0; first < K; first += atOnce) {
    const count = Math.min(atOnce, K - first);
    const from = arange(count).add(first).unsqueeze(1).expand(count, K).reshape(-1);
    const to = arange(K).unsqueeze(0).expand(count, K).reshape(-1);
    const steps = transition.crossLogProb(from, to).reshape(B, count, K);
    const total = score.narrow(1, first, count).unsqueeze(2).add(steps);
    const some = { from: total.argmax(1).add(first), reached: total.amax(1) };
    found = found ? better(found, some) : some;
  }
  return found!;
};

function better(
  a: { from: Tensor; reached: Tensor },
  b: { from: Tensor; reached: Tensor },
): { from: Tensor; reached: Tensor } {
  const other = b.reached.gt(a.reached).to('int64');
  return { from: a.from.add(b.from.sub(a.from).mul(other)), reached: a.reached.maximum(b.reached) };
}

/** Follows a best walk from its end; `row` is where the sentence's symbols begin. */
function traceBack(end: number, row: number, cameFrom: readonly number[][]): number[] {
  const walk = [end];
  for (const step of cameFrom.toReversed()) walk.unshift(step[row + walk[0]!]!);
  return walk;
}

/** The most probable trees on a graph: best branches are found from the leaves, and followed from the root. */
export const bestTrees = (posterior: WalkDistribution): BestWalk[] => withoutGrad(() => grown(posterior));

function grown(posterior: WalkDistribution): BestWalk[] {
  const { logStart, transitions, parents } = posterior;
  const K = logStart.dim(1);
  /** Log probability of the best branches below each node, by its symbol; leaves have none. [B, K] */
  const below: Tensor[] = [logStart, ...transitions.map(() => logStart.mul(0))];
  const leadsTo: number[][] = transitions.map(() => []);
  for (let i = transitions.length - 1; i >= 0; i--) {
    const { to, reached } = bestListedTarget(transitions[i]!, below[i + 1]!);
    leadsTo[i] = to.toNumbers();
    below[parents[i]!] = below[parents[i]!]!.add(reached);
  }
  const walks = below[0]!
    .argmax(-1)
    .toNumbers()
    .map((root, b) => {
      const tree = [root];
      for (const [i, parent] of parents.entries()) tree.push(leadsTo[i]![b * K + tree[parent]!]!);
      return tree;
    });
  return withProbabilities(posterior, walks);
}

/** From each symbol the best one to go to, by the score [B, K] of what is reached. [B, K] each */
function bestListedTarget(transition: Transition, score: Tensor): { to: Tensor; reached: Tensor } {
  const [B, K] = score.shape as [number, number];
  const each = arange(K).unsqueeze(1).expand(K, K).reshape(-1);
  const to = arange(K).unsqueeze(0).expand(K, K).reshape(-1);
  const steps = transition.crossLogProb(each, to); // [B, K·K]
  const total = steps.reshape(B, K, K).add(score.unsqueeze(1));
  return { to: total.argmax(2), reached: total.amax(2) };
}

function withProbabilities(
  { logStart, transitions, parents }: WalkDistribution,
  walks: number[][],
): BestWalk[] {
  const nodes = walks[0]!.map((_, i) => int64(walks.map((walk) => walk[i]!)));
  const steps = [
    logStart.gather(1, nodes[0]!.unsqueeze(1)).squeeze(1),
    ...transitions.map((transition, i) => transition.logProb(nodes[parents[i]!]!, nodes[i + 1]!)),
  ];
  const logs = stack(steps, 1).toNumbers();
  const L = steps.length;
  return walks.map((walk, b) => ({
    walk,
    probabilities: logs.slice(b * L, (b + 1) * L).map(probability),
  }));
}

/** Sums of float32 may pass 1 by a rounding. */
const probability = (log: number): number => Math.min(1, Math.exp(log));
