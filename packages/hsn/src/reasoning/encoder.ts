import { cat, type Generator, type Tensor } from '@hidden-schema/torch';
import type { TextEncoder } from '../encoder/text-encoder.ts';
import { WalkEncoder, WalkQueries, type WalkQueriesOptions } from '../encoder/walk-queries.ts';
import { UserError } from '../errors.ts';

// Shapes: B tuples, T tokens, L walk steps, K symbols, D width.

/** Half of a walk's steps; walks of two halves have an even number. */
export function halfOf(length: number): number {
  if (!Number.isInteger(length) || length < 2 || length % 2 !== 0)
    throw new UserError(
      `length: walks of two halves, for (s, r) and (s, r, o), need an even number of steps from 2, got ${length}`,
    );
  return length / 2;
}

/**
 * Scores of q(z_{1:L/2}|s, r, A) q(z_{L/2+1:L}|z_{L/2}, s, r, o, A) (Section 6, appendix H): two blocks of queries over
 * one shared encoder. As scores of one walk they make just this product: the first block's start and steps, then a
 * step out of z_{L/2} with the second block's node weights, and its further steps.
 */
export class TwoPartEncoder extends WalkEncoder {
  readonly second: WalkQueries;

  constructor(
    encoder: TextEncoder,
    options: Omit<WalkQueriesOptions, 'width'> & { frozen: boolean },
    generator: Generator,
  ) {
    const length = halfOf(options.length);
    super(encoder, { ...options, length }, generator);
    this.second = new WalkQueries({ ...options, length, width: encoder.width }, generator);
  }

  /** h of the first half, from the encoder's outputs for [s, r]. [B, L/2, K] */
  firstScores(hidden: Tensor, mask: Tensor): Tensor {
    return this.walk.scores(hidden, mask);
  }

  /** h of the second half, from its outputs for [s, r, o]. [B, L/2, K] */
  secondScores(hidden: Tensor, mask: Tensor): Tensor {
    return this.second.scores(hidden, mask);
  }
}

/** Both halves' scores as those of one walk. [B, L, K] */
export const joinedScores = (first: Tensor, second: Tensor): Tensor => cat([first, second], 1);
