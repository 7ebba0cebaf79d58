import { call, callMany, cat, type Tensor, withoutGrad } from '@hidden-schema/torch';
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
  /** Where texts that begin with each symbol lie, unit rows; the symbols themselves unless given. [K, S] */
  readonly starts?: Tensor;
  /** Cosines above which symbols stand out for a text: others are not named after the first. Without them all are. [K] */
  readonly cutoffs?: Tensor;
}

/** What symbols have beside their vectors, where they were discovered. */
export interface Reading {
  /** [K, K] */
  linkProbabilities?: Tensor | undefined;
  starts?: Tensor | undefined;
  cutoffs?: Tensor | undefined;
}

/** Nats of a step that the graph or the walk so far rules out: exp of it is zero, and sums of it are still numbers. */
export const NEG_LARGE = -1e6;

/** What nats are multiplied by and what is added then: 1 and 0 where there is a way, 0 and `NEG_LARGE` where there is none. */
export interface Gate {
  readonly factor: Tensor;
  readonly added: Tensor;
}

/** The links of probability above one half, as gates. */
export interface OpenLinks {
  /** From each symbol to each. [K, K] */
  readonly steps: Gate;
  /** Shut for symbols without any link, where no walk can start. [1, K] */
  readonly starts: Gate;
}

function gateOf(shut: Tensor): Gate {
  const none = shut.to('float32');
  return { factor: none.neg().add(1), added: none.mul(NEG_LARGE) };
}

/** Nats [n, K] behind the gate's rows that are named, or behind its only one: quicker than to fill a mask. */
export function maskByLinks({ factor, added }: Gate, nats: Tensor, rows?: Tensor): Tensor {
  const [f, a] = rows ? [factor.indexSelect(0, rows), added.indexSelect(0, rows)] : [factor, added];
  return call('addcmul', a, nats, f, 1);
}

export function dictionaryOf(
  symbols: Tensor,
  { linkProbabilities, starts, cutoffs }: Reading = {},
): Dictionary {
  // How each symbol sees another that a walk has: the latter is given where symbols learn.
  const overlaps = symbols.detach().matmul(symbols.transpose(0, 1));
  const read = { symbols, overlaps, ...(starts ? { starts } : {}), ...(cutoffs ? { cutoffs } : {}) };
  if (!linkProbabilities) return read;
  return withoutGrad(() => {
    const steps = gateOf(linkProbabilities.le(LIKELY_LINK));
    const open = gateOf(linkProbabilities.amax(1).le(LIKELY_LINK).unsqueeze(0));
    return { ...read, links: { steps, starts: open } };
  });
}

/** Rows of length one; a row of zeros stays. */
export const unitRows = (rows: Tensor): Tensor => rows.div(rows.mul(rows).sum(1, true).sqrt().clamp(1e-12));

/** Share of what the first symbol has of a text that later ones are measured by. */
const ofFirst = 0.75;

/**
 * The gain c·|c| above which symbols stand out for texts that begin with given ones, τ·max(τ, ¾·c_first): a symbol must be
 * beyond its own cutoff τ, and the more so the better the first one says what the text is about. What is rare elsewhere may
 * still say little of this text. cutoffs [K], fit = E·x [n, K], firsts [n, b] → [n, b, K]
 */
export function leastGains(cutoffs: Tensor, fit: Tensor, firsts: Tensor): Tensor {
  const first = fit.gather(1, firsts).detach().mul(ofFirst).unsqueeze(2);
  return cutoffs.clamp(0).mul(cutoffs.maximum(first));
}

/** Above this many it is quicker to sort than to look for one after the other. */
const mostOneByOne = 8;

/** The `count` largest of each row, or all where it has fewer, the largest first: libtorch's topk takes twice as long for a few, ten times for one. [n, m] → [n, count] */
export function highest(rows: Tensor, count: number): { values: Tensor; indices: Tensor } {
  const most = Math.min(count, rows.dim(1));
  if (most > mostOneByOne) return rows.topk(most, 1);
  const found: [values: Tensor, indices: Tensor][] = [];
  for (let rest = rows; ; rest = call('scatter.value', rest, 1, found.at(-1)![1], Number.NEGATIVE_INFINITY)) {
    found.push(callMany('max.dim', rest, 1, true) as [Tensor, Tensor]);
    if (found.length === most) break;
  }
  if (most === 1) return { values: found[0]![0], indices: found[0]![1] };
  const [values, indices] = [0, 1].map((part) =>
    cat(
      found.map((one) => one[part]!),
      1,
    ),
  ) as [Tensor, Tensor];
  return { values, indices };
}
