import type { Generator, Tensor, TensorOptions } from '@hidden-schema/torch';
import { guardedLog, type LogZero } from '../../walk/categorical.ts';
import type { LinkBelief } from '../bernoulli.ts';
import { drawGamma } from '../draw-gamma.ts';
import { endpoints, type PairIndex } from '../pairs.ts';
import { type GraphPrior, type GraphPriorMaker, logit } from '../prior.ts';

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

export const drawnPrior: GraphPriorMaker = ({ settings, pairs, generator, options }) =>
  new DrawnPrior(pairs, generator, settings.logZero, options);
