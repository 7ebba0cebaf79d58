import type { Tensor } from '@hidden-schema/torch';
import type { Annealed, SyntheticConfig } from '../config/network.ts';
import type { LinkDistribution } from '../graph/bernoulli.ts';
import type { GraphPrior } from '../graph/prior.ts';
import { type ProcessGroup, singleProcess } from '../walk/aggregate.ts';
import type { WalkDistribution } from '../walk/chain.ts';
import type { WalkPosterior } from '../walk/posterior.ts';

/** Which form the objective has, and its weights. */
export interface ObjectiveOptions {
  readonly kind: SyntheticConfig['objective']['kind'];
  readonly aggregation: SyntheticConfig['objective']['aggregation'];
  readonly klThreshold: number;
  readonly graphKlThreshold: number;
  /** Nats of information above which it costs what the ELBO asks for it; without it, it never does (Eq. 28). */
  readonly capacity?: number | undefined;
  /** What the graph's KL is divided by (1 as the paper writes it), and whether it is of all links or of their mean. */
  readonly graphDivisor: number;
  readonly graphKlOf?: SyntheticConfig['graph']['klOf'];
  /** Who holds the batch; one process unless given. */
  readonly holders?: ProcessGroup;
}

/** What the graph's KL is divided by, where the training set has `data` sentences. */
export function graphDivisorOf(
  weight: SyntheticConfig['graph']['klWeight'],
  sizes: { data: number; batch: number },
): number {
  return typeof weight === 'number' ? weight : { ...sizes, one: 1 }[weight];
}

/** The parts of the objective, each a scalar in nats per sentence. */
export interface LossTerms {
  /** −E log p(x|z) */
  readonly reconstruction: Tensor;
  /** KL of the walks: of each sentence's posterior (elbo), or of the aggregated one (information). */
  readonly walk: Tensor;
  /** KL[q(A); p(A)] undivided. */
  readonly graph: Tensor;
  /** Cross-entropy of the encoder's scores with the exact posterior, where there is one to learn from. */
  readonly teacher?: Tensor;
  /** −L[θ, φ], what training minimises (with the teacher's term). */
  readonly loss: Tensor;
  /** Tokens that the batch's likelihood is over. */
  readonly tokens: number;
}

/** KL of the walks: mean of Eq. 16 for the ELBO (Eq. 10), of the aggregated posterior for Eq. 28. */
export function walkKl(posterior: WalkPosterior, prior: WalkDistribution, options: ObjectiveOptions): Tensor {
  const { aggregation, holders = singleProcess } = options;
  if (options.kind === 'elbo') return holders.mean([posterior.kl(prior).mean()])[0]!;
  const { start, steps } = posterior.aggregatedKl(prior, aggregation, holders);
  return start.add(steps);
}

/** KL[q(A); p(A)] (appendix D.2), or of the mean link (authors), with what the prior's own parameters cost. */
export function graphKl(
  links: LinkDistribution,
  prior: GraphPrior,
  of: SyntheticConfig['graph']['klOf'] = 'links',
): Tensor {
  const expected = links.probabilities.sum().item();
  const belief = prior.belief(expected, links);
  return (of === 'mean' ? links.meanKl(belief) : links.kl(belief)).add(prior.cost(expected));
}

/** log p(A) − log q(A) of a drawn graph; what the prior's own parameters cost is shared by all graphs. */
export function logGraphRatio(links: LinkDistribution, prior: GraphPrior, adjacency: Tensor): Tensor {
  const expected = links.probabilities.sum().item();
  return links.logProb(adjacency, prior.belief(expected, links)).sub(links.logProb(adjacency));
}

/** I(z; x) above the capacity: by how much the mean KL of sentences exceeds that of the aggregated posterior, and it. */
function excessInformation(
  { posterior, walkPrior }: { posterior: WalkPosterior; walkPrior: WalkDistribution },
  aggregated: Tensor,
  options: ObjectiveOptions,
): Tensor | undefined {
  if (options.kind !== 'information' || options.capacity === undefined) return undefined;
  const each = walkKl(posterior, walkPrior, { ...options, kind: 'elbo' });
  return each.sub(aggregated).sub(options.capacity).clamp(0);
}

/** A divergence that is not pushed below a threshold (appendix F.1). */
const above = (kl: Tensor, threshold: number): Tensor => (threshold > 0 ? kl.clamp(threshold) : kl);

/** The training objective (Eqs. 10 and 28) with β on both divergences and thresholds below which they are free. */
export function objective(
  parts: {
    logLikelihood: Tensor;
    posterior: WalkPosterior;
    walkPrior: WalkDistribution;
    links: LinkDistribution;
    graphPrior: GraphPrior;
  },
  beta: number,
  options: ObjectiveOptions,
): Omit<LossTerms, 'tokens'> {
  const reconstruction = parts.logLikelihood.mean().neg();
  const walk = walkKl(parts.posterior, parts.walkPrior, options);
  const graph = graphKl(parts.links, parts.graphPrior, options.graphKlOf);
  const free = above(walk, options.klThreshold);
  const dearGraph = above(graph, options.graphKlThreshold);
  const excess = excessInformation(parts, walk, options);
  const paid = excess ? free.add(excess) : free;
  const loss = reconstruction.add(paid.add(dearGraph.div(options.graphDivisor)).mul(beta));
  return { reconstruction, walk, graph, loss };
}

/** A temperature at a training step. */
export function annealedAt(value: Annealed, step: number): number {
  if (typeof value === 'number') return value;
  const part = Math.min(1, step / value.steps);
  return value.shape === 'linear'
    ? value.from + (value.to - value.from) * part
    : value.from * (value.to / value.from) ** part;
}

/** β, the weight of the KL terms, at a training step: constant, rising once, or rising again in every cycle. */
export function betaAt(beta: SyntheticConfig['objective']['beta'], step: number): number {
  switch (beta.kind) {
    case 'constant':
      return beta.to;
    case 'linear':
      return beta.to * Math.min(1, step / beta.steps);
    case 'exponential':
      return beta.to * (1 - Math.exp((-5 * step) / beta.steps));
    case 'cyclical':
      return beta.to * cyclePart((step % beta.steps) / beta.steps, beta);
  }
}

/** How high a cycle has risen: it waits, rises, and stays at the top. */
const cyclePart = (part: number, { zero, rise }: { zero: number; rise: number }): number =>
  Math.min(1, Math.max(0, part - zero) / rise);
