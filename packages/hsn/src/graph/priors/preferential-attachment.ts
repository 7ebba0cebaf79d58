import { call, scope, type Tensor } from '@hidden-schema/torch';
import type { LinkBelief, LinkDistribution } from '../bernoulli.ts';
import { endpoints, type PairIndex } from '../pairs.ts';
import { type GraphPrior, type GraphPriorMaker, logit } from '../prior.ts';

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

export const preferentialAttachmentPrior: GraphPriorMaker = ({ settings, pairs }) =>
  new PreferentialAttachmentPrior(settings.attachments, pairs);
