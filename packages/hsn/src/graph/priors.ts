import {
  call,
  type Generator,
  rand,
  randn,
  scope,
  type Tensor,
  type TensorOptions,
  where,
} from '@hidden-schema/torch';
import { guardedLog, type LogZero } from '../walk/categorical.ts';
import { endpoints, type LinkBelief, type LinkDistribution, type PairIndex } from './bernoulli.ts';
import {
  BernoulliPrior,
  BetaBernoulliPrior,
  type GraphPrior,
  type GraphPriorMaker,
  logit,
  PowerLawPrior,
} from './prior.ts';

/** Largest link probability that a small graph may get: with it, absent links still have a finite logarithm. */
const MOST = 0.99;

/** Link probabilities stay this far from 0 and 1, so that their logarithms are finite. */
const MARGIN = 1e-6;

/**
 * Degrees that follow a power law because symbols arrive one by one and each brings m links, preferably to symbols that
 * have many (Barabási–Albert). The t-th symbol's expected degree falls as t^(−1/2), and symbols that arrive as r-th and
 * s-th are linked with probability m / (2·√(r·s)). The order of arrival is taken from q(A): by expected degree, the
 * largest first, anew at each step.
 */
export class PreferentialAttachmentPrior implements GraphPrior {
  readonly #m: number;
  readonly #pairs: PairIndex;

  constructor(m: number, pairs: PairIndex) {
    if (!(m >= 1 && m < pairs.nodes))
      throw new RangeError(`a symbol attaches to at least 1 and fewer than ${pairs.nodes} others, got ${m}`);
    this.#m = m;
    this.#pairs = pairs;
  }

  /** Of the share of pairs that m·(K − m) links are. */
  get logit(): number {
    const { nodes } = this.#pairs;
    const share = (2 * this.#m * (nodes - this.#m)) / (nodes * (nodes - 1));
    return logit(Math.min(1 - MARGIN, share));
  }

  belief(_expected: number, links: LinkDistribution): LinkBelief {
    return scope(() => {
      const order = call('argsort', links.matrix().sum(1).detach(), -1, true);
      const rank = call('argsort', order, -1, false).add(1).to(links.logits.dtype); // 1 to K
      const p = this.#between(rank.sqrt().reciprocal()).clamp(MARGIN, 1 - MARGIN); // [E]
      return { logPresent: p.log(), logAbsent: p.neg().log1p() };
    });
  }

  /** m/2 times the product of both ends. [K] → [E] */
  #between(falling: Tensor): Tensor {
    const { rows, columns } = endpoints(this.#pairs);
    return falling
      .indexSelect(0, rows)
      .mul(falling.indexSelect(0, columns))
      .mul(this.#m / 2);
  }

  cost(): number {
    return 0;
  }
}

/** The Gamma distribution of the weights, and how many each symbol has: the authors' values. */
const DRAWN = { shape: 0.0377, rate: 3, weights: 128 };
/** Mean link probability of such draws, from which a posterior starts. */
const MEAN_LINK = 0.0188;

/**
 * The prior of the authors' synthetic program, which reads the paper's p and never uses it: at each step weights
 * w ~ Gamma [K, 128] are drawn afresh, and p_ij = 1 − exp(−w_i·w_j), 0.019 on average. What the logarithm of one
 * that rounds to 0 is, `graph.logZero` says.
 */
export class DrawnPrior implements GraphPrior {
  readonly #pairs: PairIndex;
  readonly #generator: Generator;
  readonly #logZero: LogZero;
  readonly #options: TensorOptions;

  constructor(pairs: PairIndex, generator: Generator, logZero: LogZero, options: TensorOptions = {}) {
    this.#pairs = pairs;
    this.#generator = generator;
    this.#logZero = logZero;
    this.#options = options;
  }

  get logit(): number {
    return logit(MEAN_LINK);
  }

  belief(): LinkBelief {
    const p = this.#draw();
    const absent = p.neg().add(1);
    return { logPresent: guardedLog(p, this.#logZero), logAbsent: guardedLog(absent, this.#logZero) };
  }

  /** Link probabilities of fresh weights. [E] */
  #draw(): Tensor {
    const sizes = [this.#pairs.nodes, DRAWN.weights];
    // One graph for the whole batch: processes that share a batch draw the same.
    const draw = () => drawGamma(DRAWN.shape, sizes, this.#generator, this.#options);
    const weights = this.#generator.sharing(undefined, draw).div(DRAWN.rate); // [K, 128]
    const { rows, columns } = endpoints(this.#pairs);
    const product = weights.indexSelect(0, rows).mul(weights.indexSelect(0, columns)).sum(-1); // [E]
    // Not expm1: products below the precision of 1 round to probability 0, as they do in the authors' program.
    return product.neg().exp().neg().add(1);
  }

  cost(): number {
    return 0;
  }
}

/** Graph priors by the name that `graph.prior` has: a new one is a function, a line here, and its name in `config/network.ts`. */
export const graphPriors = {
  bernoulli: ({ settings }) => new BernoulliPrior(settings.p),
  beta: ({ settings, pairs }) => new BetaBernoulliPrior(settings.beta[0], settings.beta[1], pairs.count),
  'power-law': ({ settings, pairs, generator, options }) =>
    new PowerLawPrior(settings, pairs, generator, options),
  // Sparse Erdős–Rényi: p = d/(K − 1), d links a symbol however many there are (Section 4 names it as the way to fewer).
  sparse: ({ settings, pairs }) =>
    new BernoulliPrior(Math.min(MOST, settings.degree / Math.max(1, pairs.nodes - 1))),
  'preferential-attachment': ({ settings, pairs }) =>
    new PreferentialAttachmentPrior(settings.attachments, pairs),
  drawn: ({ settings, pairs, generator, options }) =>
    new DrawnPrior(pairs, generator, settings.logZero, options),
} satisfies Record<string, GraphPriorMaker>;

export type GraphPriorName = keyof typeof graphPriors;

/** Proposals for each draw, of which the first that is accepted counts: one in 10⁸ draws finds none and takes the last. */
const PROPOSALS = 6;

/**
 * Draws of Gamma(a, 1) for 0 < a < 1, of the given sizes. Gamma(a) is Gamma(a + 1)·U^(1/a), and Gamma(a + 1) comes by
 * Marsaglia and Tsang's rejection, whose proposals are accepted with a probability above 0.95.
 */
export function drawGamma(
  a: number,
  sizes: readonly number[],
  generator: Generator,
  options: TensorOptions = {},
): Tensor {
  if (!(a > 0 && a < 1)) throw new RangeError(`a Gamma distribution of shape 0 to 1 is drawn, got ${a}`);
  const d = a + 1 - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  return scope(() => {
    const draws = Array.from({ length: PROPOSALS }, () => {
      const x = randn(sizes, generator, options);
      const root = x.mul(c).add(1);
      const v = root.mul(root).mul(root);
      const positive = v.clamp(0); // its logarithm of −∞ is never accepted
      const bound = x.mul(x).mul(0.5).add(d).sub(v.mul(d)).add(positive.log().mul(d));
      const accepted = rand(sizes, generator, options).log().lt(bound);
      return { accepted, value: positive.mul(d) };
    });
    const larger = draws.reduceRight(
      (later, { accepted, value }) => where(accepted, value, later),
      draws.at(-1)!.value,
    );
    return larger.mul(rand(sizes, generator, options).pow(1 / a));
  });
}
