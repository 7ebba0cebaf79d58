import { fusable, type Tensor } from '@hidden-schema/torch';
import { type DivergenceTerms, type Links, linkDivergence, meanStep, walkDivergence } from '../kernels.ts';
import { categoricalKl, expectedLog } from './categorical.ts';
import type { WalkDistribution } from './chain.ts';
import type { WalkPosterior } from './posterior.ts';

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

/** The processes that hold a batch together, in equal parts. */
export interface ProcessGroup {
  readonly size: number;
  /** Means over the processes, with gradients. */
  mean(values: readonly Tensor[]): readonly Tensor[];
}

/** One process holds the whole batch. */
export const singleProcess: ProcessGroup = { size: 1, mean: (values) => values };

/** KL[q*(z_{1:L}|A); p(z_{1:L}|A)] over the batch (last terms of Eqs. 23 and 28). */
export function aggregatedKl(
  q: WalkDistribution,
  prior: WalkDistribution,
  how: Aggregation,
  holders: ProcessGroup = singleProcess,
): AggregatedKl {
  const positions = how === 'mean' ? [q.logStart.exp()] : q.marginals(); // ρ̂ of each sentence [B, K]
  const links = how === 'mean' ? undefined : soleLinks(q, prior);
  const ratios = q.transitions.map((transition, i) => {
    if (how === 'mean') return transition.meanRatio();
    const before = positions[q.parents[i]!]!;
    return links ? transition.linkRatio(before, links) : transition.meanRatio(before);
  }); // Q*/R, or pairwise marginals / R [K, K], or [E] at links
  // All means at once: a message between processes costs more by its number than by its length.
  const means = holders.mean([...ratios, ...positions.map((p) => p.mean(0))]);
  const batch = { ratios: means.slice(0, ratios.length), visits: means.slice(ratios.length) };
  const start = batch.visits[0]!; // ρ* [K]
  const startKl = categoricalKl(expectedLog(start), prior.logStart.reshape(q.graph.nodes));
  const steps =
    how === 'mean' ? meanMatrixSteps(q, prior, batch) : projectionSteps(q, prior, { ...batch, links });
  return { start: startKl, steps: steps.reduce((sum, term) => sum.add(term), startKl.mul(0)) };
}

/** Over the whole batch: Q* / R or pairwise marginals / R of each step, and where sentences are before it. */
interface BatchMeans {
  ratios: readonly Tensor[];
  visits: readonly Tensor[];
  /** The links that ratios are at, where they are not whole matrices. */
  links?: Links | undefined;
}

/** The links of a graph of which only they matter: few, without a gradient of missing ones, and in the paper's form. */
function soleLinks({ graph, transitions }: WalkDistribution, prior: WalkDistribution): Links | undefined {
  if (graph.rows.requiresGrad) return undefined;
  const split = [...transitions, ...prior.transitions].every((transition) => transition.splits);
  return split ? graph.links : undefined;
}

function meanMatrixSteps(q: WalkDistribution, prior: WalkDistribution, batch: BatchMeans): Tensor[] {
  const positions = [batch.visits[0]!.unsqueeze(0)]; // ρ̂* of each node [1, K]
  return batch.ratios.map((ratio, i) => {
    const position = positions[q.parents[i]!]!;
    const weights = position.squeeze(0);
    const p = prior.transitions[i]!.priorLogRatio;
    const { cost, arrived } = meanMatrixStep(
      { R: q.graph.countedRows, m: ratio, w: weights, p },
      q.graph.rows,
    );
    const walked = arrived.unsqueeze(0);
    positions.push(q.graph.hasIsolated ? walked.add(q.graph.leaveIsolated(position)) : walked);
    return cost;
  });
}

/** What a step of the batch's mean walk costs by its counted links R, and where all links lead. */
function meanMatrixStep(terms: Omit<DivergenceTerms, 's'>, rows: Tensor): { cost: Tensor; arrived: Tensor } {
  if (terms.R === rows && Object.values(terms).every(fusable)) return meanStep(terms);
  const { m, w } = terms;
  const cost = divergence({ ...terms, s: w.mul(0) });
  return { cost, arrived: w.unsqueeze(0).matmul(rows.mul(m)).squeeze(0) };
}

function projectionSteps(q: WalkDistribution, prior: WalkDistribution, batch: BatchMeans): Tensor[] {
  return batch.ratios.map((ratio, i) => {
    const visits = batch.visits[q.parents[i]!]!;
    const one = visits.detach().mul(0).add(1);
    if (batch.links) {
      const { target, source } = prior.transitions[i]!.priorAt(batch.links);
      const s = expectedLog(visits).sub(source);
      return linkDivergence({ m: ratio, w: one, s, p: target }, batch.links);
    }
    const p = prior.transitions[i]!.priorLogRatio;
    return divergence({ R: q.graph.countedRows, m: ratio, w: one, s: expectedLog(visits), p });
  });
}

/** Σ_jk w_j R_jk m_jk (log m_jk − s_j − p_jk): what a step's links cost, with R from the graph. Isolated rows have none. */
function divergence(terms: DivergenceTerms): Tensor {
  if (Object.values(terms).every(fusable)) return walkDivergence(terms);
  const { R, m, w, s, p } = terms;
  const walked = w.unsqueeze(1).mul(R.mul(m));
  return walked.mul(expectedLog(m).sub(s.unsqueeze(1)).sub(p)).sum();
}

/** I(z; x) = E KL[q(z|x); p] − KL[q*; p] (appendix F.2), with q* approximated as asked. */
export function mutualInformation(q: WalkPosterior, prior: WalkDistribution, how: Aggregation): Tensor {
  const aggregated = q.aggregatedKl(prior, how);
  return q.kl(prior).mean().sub(aggregated.start.add(aggregated.steps));
}
