import { full, type Generator, nn, type Tensor, type TensorOptions, zeros } from '@hidden-schema/torch';
import { type Parents, WalkDistribution } from './chain.ts';
import { Transition } from './transition.ts';
import type { WalkableGraph } from './walkable-graph.ts';

/**
 * `uniform`: f = 1, ρ = 1/K. `trained`: learnable ρ and one f for all steps. `inhomogeneous`: learnable ρ and f^[i]
 * for each step. (Section 3.1, "Prior over random walks")
 */
export type WalkPriorKind = 'uniform' | 'trained' | 'inhomogeneous';

/** Symbols, steps, and what a schema is beside a plain walk. */
export interface WalkShape {
  nodes: number;
  length: number;
  /** Whether each symbol's link to itself has a weight of its own. */
  stays?: boolean;
  /** Of a tree: where each node after the first is reached from. */
  parents?: Parents;
}

/**
 * p(z_{1:L}|A) of Eqs. 3 and 4. Where walks may end before L (`stays`), each symbol's link to itself has a weight of its own
 * at each step, so that a walk that stays costs little: Q_jk ∝ f_k A_jk e^(s_j [j = k]), a sticky chain.
 */
export class WalkPrior extends nn.Module {
  readonly length: number;
  /** log ρ up to a constant [K], and log f [1 or L−1, K]; absent in the uniform walk. */
  readonly start: Tensor | undefined;
  readonly weights: Tensor | undefined;
  /** s, the log weight of staying at each symbol. [1 or L−1, K]; absent in the uniform walk. */
  readonly stays: Tensor | undefined;
  readonly #nodes: number;
  readonly #parents: Parents | undefined;
  readonly #options: TensorOptions;

  constructor(
    kind: WalkPriorKind,
    { nodes, length, stays = false, parents }: WalkShape,
    generator: Generator,
    options: TensorOptions = {},
  ) {
    super();
    this.length = length;
    this.#nodes = nodes;
    this.#parents = parents;
    this.#options = options;
    if (kind === 'uniform') return;
    this.start = nn.parameter(nn.normal([nodes], 0.01, generator, options));
    const rows = kind === 'trained' ? 1 : length - 1;
    this.weights = nn.parameter(nn.normal([rows, nodes], 0.01, generator, options));
    if (stays) this.stays = nn.parameter(zeros([rows, nodes], options));
  }

  /**
   * The posterior that weighs evidence h [B, L, K] by this prior (Bayes' rule step by step):
   *
   *   q(z_1 = k|x) ∝ ρ_k·exp(h_1[k]),   q(z_i = k|z_{i−1} = j, x) ∝ p(z_i = k|z_{i−1} = j)·exp(h_i[k])
   *
   * It is of the form of Eqs. 6 and 9 but for the prior's links to itself. Without evidence it is the prior, and costs nothing.
   */
  withEvidence(graph: WalkableGraph, scores: Tensor): WalkDistribution {
    const prior = this.on(graph);
    const steps = scores.unbind(1);
    const logStart = steps[0]!.add(prior.logStart).logSoftmax(-1);
    const row = (all: Tensor, i: number) => all.narrow(0, all.dim(0) === 1 ? 0 : i, 1);
    const transitions = steps.slice(1).map((h, i) => {
      const logWeights = this.weights ? h.add(row(this.weights, i)) : h;
      const stays = prior.transitions[i]!.stays;
      return stays ? Transition.sticky(graph, logWeights, stays) : new Transition(graph, logWeights);
    });
    return new WalkDistribution(logStart, transitions, graph);
  }

  on(graph: WalkableGraph): WalkDistribution {
    const K = this.#nodes;
    const logStart = this.start
      ? this.start.logSoftmax(-1).unsqueeze(0)
      : full([1, K], -Math.log(K), this.#options);
    const flat = this.weights ? undefined : new Transition(graph, zeros([1, K], this.#options));
    const trained = this.weights?.dim(0) === 1 ? this.#step(graph, 0) : undefined;
    const transitions = Array.from(
      { length: this.length - 1 },
      (_, i) => flat ?? trained ?? this.#step(graph, i),
    );
    return new WalkDistribution(logStart, transitions, graph, this.#parents);
  }

  #step(graph: WalkableGraph, i: number): Transition {
    const weights = this.weights!.narrow(0, i, 1);
    return this.stays
      ? Transition.sticky(graph, weights, this.stays.narrow(0, i, 1))
      : new Transition(graph, weights);
  }
}
