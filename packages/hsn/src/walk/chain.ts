import { type Generator, stack, type Tensor } from '@hidden-schema/torch';
import {
  type AggregatedKl,
  type Aggregation,
  aggregatedKl,
  type ProcessGroup,
  singleProcess,
} from './aggregate.ts';
import { type BestWalk, bestPaths, bestTrees } from './best.ts';
import { categoricalKl, gumbelSoftmax, type Relaxation, uniformNoise } from './categorical.ts';
import type { WalkPosterior } from './posterior.ts';
import { paperForm, Transition, type TransitionForm } from './transition.ts';
import type { WalkableGraph } from './walkable-graph.ts';

// Shapes: B sentences, L steps, K symbols.

/** The node that each node after the first is reached from, all of them before it: i − 1 in a walk. L−1 numbers */
export type Parents = readonly number[];

/**
 * A distribution over walks of length L on a graph (Eqs. 3 and 9): a start and L−1 transitions, which may differ
 * from step to step. Prior (a batch of one) and posterior (one row a sentence) are both of this class. With `parents` it
 * is one over trees, whose branches are walks: the formulas are the same, each with the node's parent before it.
 */
export class WalkDistribution implements WalkPosterior {
  readonly graph: WalkableGraph;
  /** log ρ [B, K] */
  readonly logStart: Tensor;
  readonly transitions: readonly Transition[];
  readonly parents: Parents;
  #marginals: Tensor[] | undefined;

  constructor(
    logStart: Tensor,
    transitions: readonly Transition[],
    graph: WalkableGraph,
    parents: Parents = transitions.map((_, i) => i),
  ) {
    this.graph = graph;
    this.logStart = logStart;
    this.transitions = transitions;
    this.parents = parents;
  }

  /** Whether it is one over walks: each node is reached from the one before it. */
  get isChain(): boolean {
    return this.parents.every((parent, i) => parent === i);
  }

  /** ρ = softmax(h_1), f^[i] = exp(h_{i+1}) (Eqs. 6 and 9) from scores h [B, L, K]. */
  static fromScores(
    graph: WalkableGraph,
    scores: Tensor,
    form: TransitionForm = paperForm,
    parents?: Parents,
  ): WalkDistribution {
    const transitions = Transition.steps(graph, scores.narrow(1, 1, scores.dim(1) - 1), form);
    return new WalkDistribution(scores.select(1, 0).logSoftmax(-1), transitions, graph, parents);
  }

  get length(): number {
    return this.transitions.length + 1;
  }

  /** ρ̂^[i], the distribution of the i-th node (Eq. 12). L tensors [B, K] */
  marginals(): Tensor[] {
    // Made once: likelihood and divergences ask for the same. A scope that has ended took the earlier ones with it.
    if (!this.#marginals?.every((position) => position.alive)) this.#marginals = this.#passedOn();
    return this.#marginals;
  }

  #passedOn(): Tensor[] {
    const out = [this.logStart.exp()];
    for (const [i, transition] of this.transitions.entries())
      out.push(transition.next(out[this.parents[i]!]!));
    return out;
  }

  /** A relaxed walk for each sentence; `noise` gives the uniform draws of each step. L tensors [B, K] */
  sampleWith(noise: (step: number, like: Tensor) => Tensor, relaxation: Relaxation): Tensor[] {
    const start = this.logStart.exp();
    const out = [gumbelSoftmax(start, noise(0, start), relaxation)];
    for (const [i, transition] of this.transitions.entries()) {
      const next = transition.next(out[this.parents[i]!]!);
      out.push(gumbelSoftmax(next, noise(i + 1, next), relaxation));
    }
    return out;
  }

  sample(generator: Generator, relaxation: Relaxation): Tensor[] {
    return this.sampleWith((_, like) => uniformNoise(like, generator), relaxation);
  }

  /** Node numbers of sampled walks. [B, L] int64 */
  sampleNodes(generator: Generator): Tensor {
    const walk = this.sample(generator, { temperature: 1, hard: true });
    return stack(walk, 1).argmax(-1);
  }

  following(step: number, before: Tensor): Tensor {
    return this.transitions[step - 1]!.next(before.oneHot(this.graph.nodes).to(this.logStart.dtype));
  }

  /** log q(z_{1:L}) of walks given as node numbers [B, L] (Eq. 9). [B] */
  logProb(walks: Tensor): Tensor {
    const nodes = walks.unbind(1);
    let total = this.logStart
      .expand(walks.dim(0), this.graph.nodes)
      .gather(1, nodes[0]!.unsqueeze(1))
      .squeeze(1);
    for (const [i, transition] of this.transitions.entries())
      total = total.add(transition.logProb(nodes[this.parents[i]!]!, nodes[i + 1]!));
    return total;
  }

  /** log q(z_m|x_n) of M walks [M, L] under every sentence, nothing larger than [B, M] at a time. [B, M] */
  crossLogProb(walks: Tensor): Tensor {
    const nodes = walks.unbind(1);
    const start = this.logStart.indexSelect(1, nodes[0]!);
    return this.transitions.reduce(
      (total, transition, i) => total.add(transition.crossLogProb(nodes[this.parents[i]!]!, nodes[i + 1]!)),
      start,
    );
  }

  /** The start's divergence, then that of each step given the one before it (the terms of Eqs. 11 and 16). */
  stepKls(prior: WalkDistribution): Tensor[] {
    const out = [categoricalKl(this.logStart, prior.logStart)];
    const positions = [this.logStart.exp()];
    for (const [i, transition] of this.transitions.entries()) {
      const position = positions[this.parents[i]!]!;
      const arrived = transition.arrive(position);
      out.push(stepKl(transition, prior.transitions[i]!, position, arrived));
      positions.push(transition.next(position, arrived));
    }
    return out;
  }

  /** KL[q(z_{1:L}|x); p(z_{1:L})] for each sentence (Eqs. 11 and 16). [B] */
  kl(prior: WalkDistribution): Tensor {
    return this.stepKls(prior).reduce((total, step) => total.add(step));
  }

  aggregatedKl(
    prior: WalkDistribution,
    how: Aggregation,
    holders: ProcessGroup = singleProcess,
  ): AggregatedKl {
    return aggregatedKl(this, prior, how, holders);
  }

  best(): BestWalk[] {
    return this.isChain ? bestPaths(this) : bestTrees(this);
  }
}

/**
 * Σ_jk ρ̂_j Q_jk log(Q_jk / P_jk). The adjacency stands in both matrices and cancels from the logarithm; isolated rows
 * are the same in both and cost nothing: R is zero there and log D is too. Where walks may stay, each stay costs the
 * difference of both s_j.
 */
function stepKl(q: Transition, p: Transition, position: Tensor, arrived: Tensor): Tensor {
  const posterior = q.split;
  const prior = p.split;
  if (!posterior || !prior) return stepKlOneByOne(q, p, position);
  const arriving = arrived.mul(posterior.target.sub(prior.target)).sum(-1);
  const leaving = position.mul(posterior.source.sub(prior.source)).sum(-1);
  const moved = arriving.sub(leaving);
  if (!q.stays && !p.stays) return moved;
  const zero = position.mul(0);
  const more = (q.stays ?? zero).sub(p.stays ?? zero);
  return moved.add(q.staying(position).mul(more).sum(-1));
}

/** The symmetric form with c ≠ 0 does not split into factors: one [K, K] matrix a sentence, one at a time. */
function stepKlOneByOne(q: Transition, p: Transition, position: Tensor): Tensor {
  const prior = p.logRatio(0);
  const terms = Array.from({ length: position.dim(0) }, (_, n) => {
    const ratio = q.logRatio(n);
    const pairs = ratio.exp().mul(q.graph.rows).mul(position.select(0, n).unsqueeze(1));
    return pairs.mul(ratio.sub(prior)).sum();
  });
  return stack(terms);
}
