import { cat, Tensor, withoutGrad } from '@hidden-schema/torch';
import type { Replicas } from '../train/replicas.ts';
import { type Dictionary, dictionaryOf } from './dictionary.ts';
import type { Travelled } from './links.ts';
import type { DiscoveryOptions } from './options.ts';
import { type PointSource, pursueBlocks, sourceOf } from './point-source.ts';
import { checkPoints } from './points.ts';
import type { PursuitOptions } from './pursuit.ts';

// Shapes: N texts, L steps, K symbols, S width of a point.

/** A fitted Hidden Schema Network of texts as points: one dictionary, one graph. */
export interface Discovered {
  /** E, unit rows. [K, S] */
  readonly symbols: Tensor;
  /** Directions of the texts that begin with each symbol: see `fitStarts`. [K, S] */
  readonly starts: Tensor;
  /** Cosines above which symbols stand out for a text: see `fitCutoffs`. [K] */
  readonly cutoffs: Tensor;
  /** q(A_jk = 1), symmetric, 1 on the diagonal: walks may stay. [K, K] */
  readonly linkProbabilities: Tensor;
  readonly options: DiscoveryOptions;
}

/** The most probable walk of each text. */
export interface EncodedPoints {
  /** [N, L] int64 */
  walks: Tensor;
  /** a ≥ 0 of each step, zero where a symbol comes again. [N, L] */
  coefficients: Tensor;
}

/** Texts as walks along links. The same in fitting and for new texts, one at a time or many. */
export function encodePoints(discovered: Discovered, points: Tensor): EncodedPoints {
  const { symbols, options } = discovered;
  checkPoints(points, symbols.dim(1));
  return withoutGrad(() => {
    const [walks, coefficients]: [Tensor[], Tensor[]] = [[], []];
    const best = (all: Tensor) => all.select(1, 0).contiguous().keep();
    pursueBlocks(sourceOf(points), dictionaryOn(discovered), pursuitOn(options), (found) => {
      walks.push(best(found.walks));
      coefficients.push(best(found.coefficients));
    });
    const joined = { walks: cat(walks, 0), coefficients: cat(coefficients, 0) };
    for (const part of [...walks, ...coefficients]) part.free();
    return joined;
  });
}

/** How walks read what was discovered: where they never stay, without starts and cutoffs. */
export function dictionaryOn({
  symbols,
  linkProbabilities,
  starts,
  cutoffs,
  options,
}: Discovered): Dictionary {
  return dictionaryOf(symbols, { linkProbabilities, ...(options.stays ? { starts, cutoffs } : {}) });
}

/** How walks are pursued on what was discovered. */
export const pursuitOn = ({
  length,
  candidates,
  firstSharpness,
  sharpness,
}: DiscoveryOptions): PursuitOptions => ({
  length,
  candidates,
  sharpness: { first: firstSharpness, later: sharpness },
});

/** Where the best walks of all processes' points are at each step, and where they stay. */
export function walkCounts(discovered: Discovered, points: PointSource, replicas: Replicas): WalkCounts {
  const counts = new WalkCounts(discovered.options);
  withoutGrad(() =>
    pursueBlocks(points, dictionaryOn(discovered), pursuitOn(discovered.options), ({ walks }) =>
      counts.add(walks.select(1, 0).contiguous().toNumbers()),
    ),
  );
  counts.share(replicas);
  return counts;
}

/** Frees the tensors of what was discovered. */
export function freeDiscovered({ symbols, starts, cutoffs, linkProbabilities }: Discovered): void {
  for (const tensor of [symbols, starts, cutoffs, linkProbabilities]) tensor.free();
}

// Shapes: L steps, K symbols.

/** Where walks are at each step, and how often they go from one symbol to another. */
export class WalkCounts {
  readonly #length: number;
  readonly #symbols: number;
  readonly #at: Float64Array; // [L, K]
  readonly #stays: Float64Array; // [L, K]
  readonly #moves: Float64Array; // [K, K]

  constructor({ length, symbols }: { length: number; symbols: number }) {
    this.#length = length;
    this.#symbols = symbols;
    this.#at = new Float64Array(length * symbols);
    this.#stays = new Float64Array(length * symbols);
    this.#moves = new Float64Array(symbols * symbols);
  }

  /** Walks, one after the other; one that stays where it is travels no link. [n, L] */
  add(walks: ArrayLike<number>): void {
    const [L, K] = [this.#length, this.#symbols];
    for (let at = 0; at < walks.length; at++) {
      const [step, to] = [at % L, walks[at]!];
      this.#at[step * K + to]!++;
      if (step === 0) continue;
      const from = walks[at - 1]!;
      if (from === to) this.#stays[step * K + to]!++;
      else this.#moves[from * K + to]!++;
    }
  }

  /** Adds up what the processes have counted. */
  share(replicas: Replicas): void {
    for (const counts of [this.#at, this.#stays, this.#moves]) counts.set(replicas.counts(counts));
  }

  /** How many walks are on each symbol at each step. L lists of K */
  get steps(): Float64Array[] {
    return this.#byStep(this.#at);
  }

  /** How many of them have stayed on it since the step before. L lists of K, zeros first */
  get stays(): Float64Array[] {
    return this.#byStep(this.#stays);
  }

  #byStep(counts: Float64Array): Float64Array[] {
    const K = this.#symbols;
    return Array.from({ length: this.#length }, (_, i) => counts.slice(i * K, (i + 1) * K));
  }

  /** Moves per text, every walk being certain. */
  travelled(texts: number): Travelled {
    const shares = this.#moves.map((count) => count / texts);
    const matrix = () => Tensor.fromArray(shares, [this.#symbols, this.#symbols]);
    return { traversals: matrix(), certainty: matrix() };
  }
}
