import type { Tensor } from '@hidden-schema/torch';
import { categoricalKl, expectedLog, type WalkDistribution } from './chain.ts';

/**
 * How the aggregated posterior q*(z) = (1/N) Σ_n q(z|x_n) is made a Markov chain.
 * `mean`: the paper's, unweighted means of the transition matrices (Eqs. 25 to 27).
 * `projection`: Σ_n q_n(z_{i−1}, z_i) / Σ_n q_n(z_{i−1}), the best first-order approximation of the mixture;
 * never above its true divergence.
 */
export type Aggregation = 'mean' | 'projection';

export interface AggregatedKl {
  /** KL of the first node. */
  start: Tensor;
  /** KL of all steps together. */
  steps: Tensor;
}

/** KL[q*(z_{1:L}|A); p(z_{1:L}|A)] over the batch (last terms of Eqs. 23 and 28). */
export function aggregatedKl(q: WalkDistribution, prior: WalkDistribution, how: Aggregation): AggregatedKl {
  const start = q.logStart.exp().mean(0); // ρ* [K]
  const startKl = categoricalKl(expectedLog(start), prior.logStart.reshape(q.graph.nodes));
  const steps = how === 'mean' ? meanMatrixSteps(q, prior, start) : projectionSteps(q, prior);
  return { start: startKl, steps: steps.reduce((sum, term) => sum.add(term), startKl.mul(0)) };
}

function meanMatrixSteps(q: WalkDistribution, prior: WalkDistribution, start: Tensor): Tensor[] {
  let position = start.unsqueeze(0); // ρ̂* [1, K]
  return q.transitions.map((transition, i) => {
    const ratio = transition.meanRatio(); // Q*/R [K, K]
    const matrix = q.graph.rows.mul(ratio);
    const walked = position.transpose(0, 1).mul(matrix); // zero where a row is isolated
    const term = walked.mul(ratio.log().sub(prior.transitions[i]!.priorLogRatio)).sum();
    position = position.matmul(matrix).add(q.graph.leaveIsolated(position));
    return term;
  });
}

function projectionSteps(q: WalkDistribution, prior: WalkDistribution): Tensor[] {
  let position = q.logStart.exp(); // ρ̂ of each sentence [B, K]
  return q.transitions.map((transition, i) => {
    const ratio = transition.meanRatio(position); // pairwise marginals / R [K, K]
    const visits = position.mean(0).unsqueeze(1); // [K, 1]
    const log = expectedLog(ratio).sub(expectedLog(visits));
    const walked = q.graph.rows.mul(ratio);
    const term = walked.mul(log.sub(prior.transitions[i]!.priorLogRatio)).sum();
    position = transition.next(position);
    return term;
  });
}

/** I(z; x) = E KL[q(z|x); p] − KL[q*; p] (appendix F.2), with q* approximated as asked. */
export function mutualInformation(q: WalkDistribution, prior: WalkDistribution, how: Aggregation): Tensor {
  const aggregated = aggregatedKl(q, prior, how);
  return q.kl(prior).mean().sub(aggregated.start.add(aggregated.steps));
}
