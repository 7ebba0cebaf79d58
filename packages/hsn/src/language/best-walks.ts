import { arange, bestStep, noGrad, scope, stack, Tensor } from '@hidden-schema/torch';
import type { WalkPosterior } from '../objective/objective.ts';
import { MeanFieldWalks, type Transition, type WalkDistribution } from '../walk/index.ts';

// Shapes: B sentences, L walk steps, K symbols.

/** The most probable walk of a sentence. */
export interface BestWalk {
  walk: number[];
  /** q(z_1|x), then q(z_i|z_{i-1}, x); their product is the walk's probability. */
  probabilities: number[];
}

/** The walk of highest q(z|x, A) for each sentence: steps apart without a graph, by dynamic programming on one. */
export function bestWalks(posterior: WalkPosterior): BestWalk[] {
  return scope(() =>
    noGrad(() => (posterior instanceof MeanFieldWalks ? bestSteps(posterior) : bestPaths(posterior))),
  );
}

function bestSteps({ logMarginals }: MeanFieldWalks): BestWalk[] {
  const nodes = logMarginals.map((log) => log.argmax(-1).toNumbers());
  const best = logMarginals.map((log) => log.amax(-1).toNumbers());
  return nodes[0]!.map((_, b) => ({
    walk: nodes.map((step) => step[b]!),
    probabilities: best.map((step) => probability(step[b]!)),
  }));
}

/** Numbers in the largest tensor of a chunk. */
const chunkNumbers = 4_000_000;

function bestPaths(posterior: WalkDistribution): BestWalk[] {
  const { logStart, transitions } = posterior;
  const [B, K] = logStart.shape as [number, number];
  if (B * K * K > chunkNumbers && B > 1)
    throw new RangeError(`${B} sentences of ${K} symbols are too many at once; read fewer`);
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
  const apart = transitions.every(({ split }) => split) && !graph.hasIsolated;
  if (!apart) return bestListedStep;
  const logRows = graph.rows.log(); // [from, to]
  return ({ split }, score) => {
    const { best, from } = bestStep(score.sub(split!.source), logRows);
    return { from, reached: best.add(split!.target) };
  };
}

const bestListedStep: BestStep = (transition, score) => {
  const [B, K] = score.shape as [number, number];
  const from = arange(K).unsqueeze(1).expand(K, K).reshape(-1);
  const to = arange(K).unsqueeze(0).expand(K, K).reshape(-1);
  const total = score.unsqueeze(2).add(transition.crossLogProb(from, to).reshape(B, K, K));
  return { from: total.argmax(1), reached: total.amax(1) };
};

/** Follows a best walk from its end; `row` is where the sentence's symbols begin. */
function traceBack(end: number, row: number, cameFrom: readonly number[][]): number[] {
  const walk = [end];
  for (const step of cameFrom.toReversed()) walk.unshift(step[row + walk[0]!]!);
  return walk;
}

function withProbabilities({ logStart, transitions }: WalkDistribution, walks: number[][]): BestWalk[] {
  const nodes = walks[0]!.map((_, i) => indices(walks.map((walk) => walk[i]!)));
  const steps = [
    logStart.gather(1, nodes[0]!.unsqueeze(1)).squeeze(1),
    ...transitions.map((transition, i) => transition.logProb(nodes[i]!, nodes[i + 1]!)),
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

function indices(values: readonly number[]): Tensor {
  return Tensor.fromArray(BigInt64Array.from(values, BigInt), [values.length]);
}

/** Sentences that may be read at once, for K symbols. */
export function readAtOnce(symbols: number): number {
  return Math.max(1, Math.min(64, Math.floor(chunkNumbers / (symbols * symbols))));
}
