import { noGrad, scope, type Tensor } from '@hidden-schema/torch';
import { LIKELY_LINK } from '../graph/likely.ts';

// Shapes: K symbols, S width of a point.

/** How sure steps are: κ_1 of the first, κ of the others. */
export interface Sharpness {
  first: number;
  later: number;
}

/** Symbols as vectors, and what of the graph a walk needs. */
export interface Dictionary {
  /** E, unit rows. [K, S] */
  readonly symbols: Tensor;
  /** E·Eᵀ [K, K] */
  readonly overlaps: Tensor;
  /** Links that walks keep to; without them every step is free. */
  readonly links?: OpenLinks;
}

/** The links of probability above one half, as masks of what is shut. */
export interface OpenLinks {
  /** True where there is no link. [K, K] bool */
  readonly shut: Tensor;
  /** True for symbols without any link, where no walk can start. [K] bool */
  readonly isolated: Tensor;
}

export function dictionaryOf(symbols: Tensor, linkProbabilities?: Tensor): Dictionary {
  // How each symbol sees another that a walk has: the latter is given where symbols learn.
  const overlaps = symbols.detach().matmul(symbols.transpose(0, 1));
  if (!linkProbabilities) return { symbols, overlaps };
  return noGrad(() =>
    scope(() => {
      const shut = linkProbabilities.le(LIKELY_LINK);
      const isolated = linkProbabilities.amax(1).le(LIKELY_LINK);
      return { symbols, overlaps, links: { shut, isolated } };
    }),
  );
}

/** Rows of length one; a row of zeros stays. */
export function unitRows(rows: Tensor): Tensor {
  return rows.div(rows.mul(rows).sum(1, true).sqrt().clamp(1e-12));
}
