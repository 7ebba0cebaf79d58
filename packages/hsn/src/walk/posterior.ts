import type { Generator, Tensor } from '@hidden-schema/torch';
import type { AggregatedKl, Aggregation, ProcessGroup } from './aggregate.ts';
import type { BestWalk } from './best.ts';
import type { Relaxation } from './categorical.ts';
import type { WalkDistribution } from './chain.ts';

// Shapes: B sentences, M walks, L steps, K symbols.

/** Where each sentence's walker is at each step: one-hot, relaxed, or a distribution. L tensors [B, K] */
export type Positions = readonly Tensor[];

/** q(z_{1:L}|x, A) of B sentences: on a graph (Eq. 9) or without one (Eq. 29). */
export interface WalkPosterior {
  /** ρ̂^[i], the distribution of the i-th node. L tensors [B, K] */
  marginals(): Positions;
  /** A relaxed walk for each sentence. L tensors [B, K] */
  sample(generator: Generator, relaxation: Relaxation): Positions;
  /** Node numbers of sampled walks. [B, L] int64 */
  sampleNodes(generator: Generator): Tensor;
  /** q(z_i|z_{i−1}, x) for the i-th node, i ≥ 1, after the node numbers [B] of the one before it. [B, K] */
  following(step: number, before: Tensor): Tensor;
  /** log q(z_{1:L}|x) of a walk [B, L] for each sentence. [B] */
  logProb(walks: Tensor): Tensor;
  /** log q(z_m|x_n) of M walks [M, L] under every sentence. [B, M] */
  crossLogProb(walks: Tensor): Tensor;
  /** The terms of the next, of each step given those before it. L tensors [B] */
  stepKls(prior: WalkDistribution): Tensor[];
  /** KL[q(z_{1:L}|x); p(z_{1:L})] of each sentence. [B] */
  kl(prior: WalkDistribution): Tensor;
  /** KL[q*(z_{1:L}); p(z_{1:L})] of the aggregated posterior of the batch. */
  aggregatedKl(prior: WalkDistribution, how: Aggregation, holders?: ProcessGroup): AggregatedKl;
  /** The walk of highest probability for each sentence. */
  best(): BestWalk[];
}
