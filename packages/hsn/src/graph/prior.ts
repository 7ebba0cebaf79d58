import { type Generator, nn, type Tensor, type TensorOptions } from '@hidden-schema/torch';
import type { LogZero } from '../walk/categorical.ts';
import { endpoints, type LinkBelief, type LinkDistribution, type PairIndex } from './bernoulli.ts';
import { betaKl, digamma } from './gamma.ts';

/** p(A): what it believes of each link, given what the posterior expects, and what its own parameters cost. */
export interface GraphPrior {
  /** `expectedLinks` is Σ q(A_ij) over pairs; a prior with a learned density or order fits itself to it or to q(A). */
  belief(expectedLinks: number, links: LinkDistribution): LinkBelief;
  /** Divergence or negative log-density of the prior's own parameters (a number or a scalar tensor). */
  cost(expectedLinks: number): Tensor | number;
  /** A typical log-odds of a link, from which a posterior starts. */
  readonly logit: number;
}

/** The settings that priors are made from. */
export interface GraphPriorSettings {
  readonly p: number;
  readonly beta: readonly [number, number];
  readonly exponent: number;
  /** Sparse: expected links of a symbol. */
  readonly degree: number;
  /** Preferential attachment: m, the links that each new symbol brings. */
  readonly attachments: number;
  /** The logarithm of a link probability of zero: that of a small number, or 0 (authors). */
  readonly logZero: LogZero;
}

/** Makes a prior; draws of its own come from the network's generator. */
export type GraphPriorMaker = (parts: {
  settings: GraphPriorSettings;
  pairs: PairIndex;
  generator: Generator;
  options: TensorOptions;
}) => GraphPrior;

function checkProbability(p: number): void {
  if (!(p > 0 && p < 1)) throw new RangeError(`a link probability lies between 0 and 1, got ${p}`);
}

export const logit = (p: number): number => Math.log(p) - Math.log1p(-p);

/** Every link with the same fixed probability p: the paper's Erdős–Rényi prior. */
export class BernoulliPrior implements GraphPrior {
  readonly p: number;

  constructor(p: number) {
    checkProbability(p);
    this.p = p;
  }

  get logit(): number {
    return logit(this.p);
  }
  belief(): LinkBelief {
    return { logPresent: Math.log(this.p), logAbsent: Math.log1p(-this.p) };
  }
  cost(): number {
    return 0;
  }
}

/**
 * p itself unknown, with p ~ Beta(a, b): the density is learned from the data, so that a sparse truth is not
 * overproduced. q(p) = Beta(a + Σq, b + E − Σq) is the exact coordinate optimum.
 */
export class BetaBernoulliPrior implements GraphPrior {
  readonly #a: number;
  readonly #b: number;
  readonly #pairs: number;

  constructor(a: number, b: number, pairs: number) {
    if (!(a > 0 && b > 0)) throw new RangeError(`Beta's parameters are positive, got ${a} and ${b}`);
    this.#a = a;
    this.#b = b;
    this.#pairs = pairs;
  }

  get logit(): number {
    return logit(this.#a / (this.#a + this.#b));
  }
  #posterior(expectedLinks: number): [number, number] {
    return [this.#a + expectedLinks, this.#b + this.#pairs - expectedLinks];
  }
  belief(expectedLinks: number): LinkBelief {
    const [a, b] = this.#posterior(expectedLinks);
    return { logPresent: digamma(a) - digamma(a + b), logAbsent: digamma(b) - digamma(a + b) };
  }
  cost(expectedLinks: number): number {
    const [a, b] = this.#posterior(expectedLinks);
    return betaKl(a, b, this.#a, this.#b);
  }
}

/**
 * Degrees that follow a power law: logit p_ij = θ_i + θ_j, where the weights exp(θ) are Pareto with the given exponent
 * (P(k) ~ k^−exponent in a sparse graph), learned as the most probable ones.
 */
export class PowerLawPrior extends nn.Module implements GraphPrior {
  readonly excess: Tensor; // [K]; θ = floor + softplus(excess)
  readonly #floor: number;
  readonly #exponent: number;
  readonly #pairs: PairIndex;

  constructor(
    { p, exponent }: { p: number; exponent: number },
    pairs: PairIndex,
    generator: Generator,
    options: TensorOptions = {},
  ) {
    super();
    checkProbability(p);
    if (!(exponent > 1)) throw new RangeError(`a power law's exponent is above 1, got ${exponent}`);
    this.#floor = logit(p) / 2 - Math.LN2;
    this.#exponent = exponent;
    this.#pairs = pairs;
    this.excess = nn.parameter(nn.normal([pairs.nodes], 0.01, generator, options));
  }

  get logit(): number {
    return 2 * (this.#floor + Math.LN2);
  }
  /** softplus(excess) [K] */
  #raised(): Tensor {
    return this.excess.neg().logSigmoid().neg();
  }
  belief(): LinkBelief {
    const theta = this.#raised().add(this.#floor);
    const { rows, columns } = endpoints(this.#pairs);
    const logits = theta.indexSelect(0, rows).add(theta.indexSelect(0, columns));
    return { logPresent: logits.logSigmoid(), logAbsent: logits.neg().logSigmoid() };
  }
  /** −log of the Pareto density of exp(θ), up to a constant. */
  cost(): Tensor {
    return this.#raised()
      .sum()
      .mul(this.#exponent - 1);
  }
}
