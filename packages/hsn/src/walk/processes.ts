import { UserError } from '@hidden-schema/base';
import { full, type Generator, nn, type Tensor, type TensorOptions, zeros } from '@hidden-schema/torch';
import type { LogZero } from './categorical.ts';
import { type Parents, WalkDistribution } from './chain.ts';
import { MeanFieldWalks } from './mean-field.ts';
import type { WalkPosterior } from './posterior.ts';
import { Transition, type TransitionForm } from './transition.ts';
import type { WalkableGraph } from './walkable-graph.ts';

/** The settings of schemata that a process is made from. */
interface ProcessSettings {
  readonly prior: WalkPriorKind;
  readonly posterior: 'graph' | 'mean-field' | 'complete';
  readonly form: TransitionForm['kind'];
  readonly constant: number;
  readonly range?: number | 'none' | undefined;
  readonly stays: boolean;
}

/** What a schema is: how L symbols hang together, before a text is read (prior) and after (posterior). */
export interface SchemaProcess {
  /** p(z|A); its weights are part of the network. */
  readonly prior: WalkPrior;
  /** q(z|x, A) of a batch, from scores h^enc [B, L, K]. */
  posterior(scores: Tensor, graph: WalkableGraph): WalkPosterior;
}

/** Makes a process for K symbols (`nodes`) and schemata of L (`length`). */
export type SchemaProcessMaker = (parts: {
  settings: ProcessSettings;
  logZero: LogZero;
  nodes: number;
  length: number;
  generator: Generator;
  options: TensorOptions;
}) => SchemaProcess;

/** The form of transitions that the settings name. */
export const formOf = ({ form, constant, range }: ProcessSettings): TransitionForm => ({
  kind: form,
  constant,
  ...(typeof range === 'number' ? { range } : {}),
});

/**
 * A tree of symbols on the graph: the first is the root, and the i-th (from 0) hangs on the symbol ⌊(i − 1)/2⌋, so that
 * each symbol has two that follow from it. Every branch is a walk; what lies on two branches is independent given
 * where they part.
 */
export const treeProcess: SchemaProcessMaker = ({ settings, nodes, length, generator, options }) => {
  if (settings.posterior !== 'graph')
    throw new UserError(
      `a tree of symbols lies on the graph; expected walk.posterior: graph, got ${settings.posterior}`,
    );
  if (settings.stays) throw new UserError('a tree of symbols does not end early; expected walk.stays: false');
  const parents = Array.from({ length: length - 1 }, (_, i) => Math.floor(i / 2));
  return {
    prior: new WalkPrior(settings.prior, { nodes, length, parents }, generator, options),
    posterior: (scores, graph) => WalkDistribution.fromScores(graph, scores, formOf(settings), parents),
  };
};

/** The paper's: a walk on the graph (Eqs. 3 to 6), or its posterior without the graph (Eq. 29; Eq. 33 is the same). */
export const walkProcess: SchemaProcessMaker = ({ settings, logZero, nodes, length, generator, options }) => {
  const shape = { nodes, length, stays: settings.stays };
  return {
    prior: new WalkPrior(settings.prior, shape, generator, options),
    posterior: (scores, graph) =>
      settings.posterior === 'graph'
        ? WalkDistribution.fromScores(graph, scores, formOf(settings))
        : new MeanFieldWalks(scores, logZero),
  };
};

/** Schema processes by the name that `walk.process` has: a new one is a function, a line here, and its name in `config/network.ts`. */
export const schemaProcesses = {
  walk: walkProcess,
  tree: treeProcess,
} satisfies Record<string, SchemaProcessMaker>;

export type SchemaProcessName = keyof typeof schemaProcesses;

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
