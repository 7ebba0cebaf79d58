import {
  full,
  type Generator,
  type Tensor,
  type TensorOptions,
  withoutGrad,
  zeros,
} from '@hidden-schema/torch';
import type { SymbolKind, Symbols } from '../symbols/symbols.ts';
import type { Smoothed } from '../walk/smoothing.ts';
import { LinkDistribution, type PairIndex } from './bernoulli.ts';
import { FreeLogits, GraphPosterior, InnerProduct, NormedInnerProduct, PairNetwork } from './posterior.ts';
import type { GraphPrior, GraphPriorSettings } from './prior.ts';
import type { GraphPriorName } from './priors.ts';

export interface ClosedFormOptions extends TensorOptions {
  /** How many sentences the evidence counts for: the size of the training set. */
  sentences: number;
  /** What a walk over a missing link costs its sentence, in nats. */
  missingLinkCost: number;
  /** Weight of the newest batch in the running mean of traversals. */
  rate: number;
}

/** Up to this size a logit is as the evidence says; beyond, it grows with the evidence's logarithm, which keeps the order. */
const plainLogit = 12;
/** Rounds in which logits, degrees and the learned density settle with each other. */
const settlingRounds = 3;
/** Share of a uniform walk mixed into the expected transitions, so that no path is ever shut for good. */
const explore = 1e-4;

/**
 * q(A) as a coordinate step of the ELBO instead of a trained network.
 *
 * Without the link {j, k} a sentence loses the walks that use it: its log-likelihood falls by −log(1 − γ), γ being the
 * posterior probability of the traversal. That curve leaves 0 with slope 1 and ends, at γ = 1, at the cost M of letting
 * the decoder's noise explain a token instead; γ + (M − 1)γ² has the same slope and ends. With the link, every stop at
 * j shares its exits with one more neighbour, which costs log((d_j + 1)/d_j) ≈ 1/d_j. Over N sentences, with C the
 * expected traversals, S the sum of their squared probabilities and n the departures, all per sentence:
 *
 *   logit q(A_jk) = E[logit p] + N·[ C_jk + C_kj + (M − 1)(S_jk + S_kj) − n_j/d_j − n_k/d_k ],   d_j = Σ_k q(A_jk)
 *
 * The sum C + (M − 1)S tells a link that few sentences surely use from one that many might.
 */
export class ClosedFormPosterior extends GraphPosterior {
  /** C, running mean of expected traversals per sentence. [K, K] */
  readonly traversals: Tensor;
  /** S, the same of squared probabilities. [K, K] */
  readonly certainty: Tensor;
  /** Running mean of the first node's distribution. [K] */
  readonly start: Tensor;
  /** [E] */
  readonly logits: Tensor;
  readonly #pairs: PairIndex;
  readonly #prior: GraphPrior;
  readonly #options: ClosedFormOptions;

  constructor(pairs: PairIndex, prior: GraphPrior, options: ClosedFormOptions) {
    super();
    const K = pairs.nodes;
    this.#pairs = pairs;
    this.#prior = prior;
    this.#options = options;
    this.traversals = zeros([K, K], options).keep();
    this.certainty = zeros([K, K], options).keep();
    this.start = full([K], 1 / K, options).keep();
    this.logits = full([pairs.count], prior.logit, options).keep();
  }

  override links(): LinkDistribution {
    return new LinkDistribution(this.#pairs, this.logits);
  }

  /**
   * Transitions that the traversals so far suggest, links being undirected. [K, K]
   * This is what the next smoothing walks on: soft, so that an early guess does not lock a wrong labelling in.
   */
  transitions(): Tensor {
    const both = this.traversals.add(this.traversals.transpose(0, 1)).add(explore / this.#pairs.nodes ** 2);
    const matrix = this.#pairs.matrix(this.#pairs.vector(both));
    return matrix.div(matrix.sum(1, true));
  }

  /** Takes in what smoothing found in a batch, then sets the link logits. */
  observe(seen: Pick<Smoothed, 'traversals' | 'certainty' | 'start'>, rate = this.#options.rate): void {
    withoutGrad(() => {
      this.traversals.mul_(1 - rate).add_(seen.traversals, rate);
      this.certainty.mul_(1 - rate).add_(seen.certainty, rate);
      this.start.mul_(1 - rate).add_(seen.start, rate);
      for (let round = 0; round < settlingRounds; round++) this.logits.copy_(this.#evidence());
    });
  }

  #evidence(): Tensor {
    const { sentences, missingLinkCost } = this.#options;
    const weighed = this.traversals.add(this.certainty.mul(missingLinkCost - 1));
    const used = this.#pairs.vector(weighed.add(weighed.transpose(0, 1)));
    const departures = this.traversals.sum(1); // n [K]
    const links = this.links();
    const degrees = links.matrix().sum(1).clamp(1); // d [K]
    const share = departures.div(degrees); // n/d [K]
    const expected = links.probabilities.sum().item();
    const belief = this.#prior.belief(expected, links);
    const shared = this.#pairs.vector(share.unsqueeze(1).add(share.unsqueeze(0)));
    const evidence = used.sub(shared).mul(sentences);
    return compressed(evidence.add(belief.logPresent).sub(belief.logAbsent));
  }
}

/** x up to a bound, and from there bound + log(|x|/bound) with x's sign. */
function compressed(x: Tensor): Tensor {
  const inside = x.clamp(-plainLogit, plainLogit);
  const beyond = x.abs().clamp(plainLogit).div(plainLogit).log();
  return inside.add(beyond.mul(inside.div(plainLogit)));
}

/** The settings of a graph that its prior and posterior are built from. */
export interface GraphSettings extends GraphPriorSettings {
  posterior: 'closed-form' | 'pairs' | 'inner' | 'inner-normed' | 'free';
  prior: GraphPriorName;
  symbols: SymbolKind;
  symbolDimension: number;
  hidden: number;
  layers: number;
  missingLinkCost?: number | undefined;
  traversalRate?: number | undefined;
}

/** Closed form: weight of the newest batch, unless settings say. */
const defaultRate = 0.05;

/** What a graph posterior is made of beside its settings. */
export interface PosteriorParts extends TensorOptions {
  prior: GraphPrior;
  symbols: Symbols;
  /** Sentences in the training set, which the closed form's evidence counts for. */
  sentences: number;
  /** Closed form: what a missing link costs where the settings do not say. */
  noiseCost: () => number;
}

/** q(A): in closed form from expected traversals, or trained by gradients from where the prior is. */
export function graphPosteriorOf(
  settings: GraphSettings,
  pairs: PairIndex,
  generator: Generator,
  { prior, symbols, sentences, noiseCost, ...options }: PosteriorParts,
): GraphPosterior {
  if (settings.posterior === 'closed-form') {
    const missingLinkCost = settings.missingLinkCost ?? noiseCost();
    const rate = settings.traversalRate ?? defaultRate;
    return new ClosedFormPosterior(pairs, prior, { ...options, missingLinkCost, rate, sentences });
  }
  const initialLogit = prior.logit;
  if (settings.posterior === 'free') return new FreeLogits(pairs, initialLogit, options);
  const network = { ...options, hidden: settings.hidden, layers: settings.layers, initialLogit };
  if (settings.posterior === 'inner-normed')
    return new NormedInnerProduct(symbols, pairs, network, generator);
  return settings.posterior === 'pairs'
    ? new PairNetwork(symbols, pairs, network, generator)
    : new InnerProduct(symbols, pairs, network, generator);
}
