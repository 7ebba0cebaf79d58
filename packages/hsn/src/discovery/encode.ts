import { UserError } from '@hidden-schema/base';
import { cat, noGrad, scope, type Tensor } from '@hidden-schema/torch';
import type { Replicas } from '../train/replicas.ts';
import { pursueBlocks } from './blocks.ts';
import { type Dictionary, dictionaryOf } from './dictionary.ts';
import type { DiscoveryOptions } from './options.ts';
import { type PointSource, sourceOf } from './point-source.ts';
import type { PursuitOptions } from './pursuit.ts';
import { WalkCounts } from './walk-counts.ts';

// Shapes: N texts, B candidates, L steps, K symbols, S width of a point.

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

/** The posterior over walks of each text, and its best walk. */
export interface EncodedPoints {
  /** Most probable walk. [N, L] int64 */
  walks: Tensor;
  /** Its coefficients, zero where a symbol comes again. [N, L] */
  coefficients: Tensor;
  /** Walks of the beam, most probable first. [N, B, L] int64 */
  candidates: Tensor;
  /** Of each candidate. [N, B, L] */
  candidateCoefficients: Tensor;
  /** q(z|x, A) among the candidates; rows sum to 1. [N, B] */
  probabilities: Tensor;
  /** Entropy of `probabilities` in nats. [N] */
  uncertainty: Tensor;
  /** Share of the point's squared length that the best walk explains. [N] */
  explained: Tensor;
}

/** Texts as walks along links. The same in fitting and for new texts, one at a time or many. */
export function encodePoints(discovered: Discovered, points: Tensor): EncodedPoints {
  const { symbols, options } = discovered;
  checkPoints(points, symbols.dim(1));
  return noGrad(() =>
    scope(() => {
      const parts: EncodedPoints[] = [];
      pursueBlocks(sourceOf(points), dictionaryOn(discovered), pursuitOn(options), (found) => {
        const probabilities = found.logProbabilities.softmax(1);
        const logs = probabilities.clamp(1e-30).log();
        const part = {
          walks: found.walks.select(1, 0).contiguous(),
          coefficients: found.coefficients.select(1, 0).contiguous(),
          candidates: found.walks,
          candidateCoefficients: found.coefficients,
          probabilities,
          uncertainty: probabilities.mul(logs).sum(1).neg().clamp(0),
          explained: found.left.select(1, 0).div(found.squares.clamp(1e-12)).neg().add(1).clamp(0, 1),
        };
        for (const tensor of Object.values(part)) tensor.keep();
        parts.push(part);
      });
      return joined(parts);
    }),
  );
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
  noGrad(() =>
    scope(() =>
      pursueBlocks(points, dictionaryOn(discovered), pursuitOn(discovered.options), ({ walks }) =>
        counts.add(walks.select(1, 0).contiguous().toNumbers()),
      ),
    ),
  );
  counts.share(replicas);
  return counts;
}

function joined(parts: readonly EncodedPoints[]): EncodedPoints {
  const join = (name: keyof EncodedPoints) => {
    const whole = cat(
      parts.map((part) => part[name]),
      0,
    );
    for (const part of parts) part[name].free();
    return whole;
  };
  return {
    walks: join('walks'),
    coefficients: join('coefficients'),
    candidates: join('candidates'),
    candidateCoefficients: join('candidateCoefficients'),
    probabilities: join('probabilities'),
    uncertainty: join('uncertainty'),
    explained: join('explained'),
  };
}

/** Frees the tensors of what was discovered. */
export function freeDiscovered({ symbols, starts, cutoffs, linkProbabilities }: Discovered): void {
  for (const tensor of [symbols, starts, cutoffs, linkProbabilities]) tensor.free();
}

/** Refuses points that would spoil a sum before any is made. */
export function checkPoints(points: Tensor, width?: number): void {
  const shape = `[${points.shape.join(', ')}]`;
  if (points.shape.length !== 2 || points.dim(0) === 0 || points.dim(1) === 0)
    throw new UserError(`points are rows of numbers, at least one of each, got the shape ${shape}`);
  if (points.dtype !== 'float32') throw new UserError(`points are float32, got ${points.dtype}`);
  if (width !== undefined && points.dim(1) !== width)
    throw new UserError(
      `points of width ${width} were expected, got ${shape}; make them with the space that the symbols were fitted in`,
    );
  const finite = scope(() => points.isFinite().all().to('float32').item());
  if (finite !== 1)
    throw new UserError('points hold NaN or infinite numbers; look at the vectors they come from');
}
