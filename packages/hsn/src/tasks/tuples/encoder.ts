import { UserError } from '@hidden-schema/base';
import type { PaddedIds } from '@hidden-schema/text';
import { cat, type Generator, type Tensor } from '@hidden-schema/torch';
import { maskOfLengths, type TextEncoder } from '@hidden-schema/transformers/text-encoder';
import { TextReader, WalkQueries, type WalkQueriesOptions } from '../../encoder/walk-queries.ts';

// Shapes: B tuples, T tokens, L walk steps, K symbols, D width.

/** Tuples to read. */
export interface ReadTuples {
  /** [s, r] and [s, r, o]. */
  prefix: PaddedIds;
  whole: PaddedIds;
  /** The encoder's outputs for them where they are known already. [B, T, D] */
  known?: { prefix?: Tensor | undefined; whole?: Tensor | undefined };
  /** What halves pursue, where the encoder reads points. [B, D] */
  points?: { first: Tensor; second?: Tensor } | undefined;
  /** Second halves that stand in place of what is read, for some of the tuples. */
  secondWalks?: readonly (readonly number[] | undefined)[] | undefined;
}

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
export class TwoPartEncoder extends TextReader {
  readonly walk: WalkQueries;
  readonly second: WalkQueries;

  constructor(
    encoder: TextEncoder,
    options: Omit<WalkQueriesOptions, 'width'> & { frozen: boolean },
    generator: Generator,
  ) {
    const length = halfOf(options.length);
    super(encoder, options.frozen);
    this.walk = new WalkQueries({ ...options, length, width: encoder.width }, generator);
    this.second = new WalkQueries({ ...options, length, width: encoder.width }, generator);
  }

  /** h of whole walks: both halves' scores as those of one walk. [B, L, K] */
  scores(batch: ReadTuples): Tensor {
    return cat([this.firstScores(batch), this.secondScores(batch)], 1);
  }

  /** h of the first half, from [s, r]. [B, L/2, K] */
  firstScores({ prefix, known }: Pick<ReadTuples, 'prefix' | 'known'>): Tensor {
    return this.walk.scores(known?.prefix ?? this.states(prefix), maskOf(prefix));
  }

  /** h of the second half, from [s, r, o]. [B, L/2, K] */
  secondScores({ whole, known }: Pick<ReadTuples, 'whole' | 'known'>): Tensor {
    return this.second.scores(known?.whole ?? this.states(whole), maskOf(whole));
  }
}

const maskOf = ({ lengths, width }: PaddedIds): Tensor => maskOfLengths(lengths, width);
