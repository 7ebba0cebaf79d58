import type { Tensor } from '@hidden-schema/torch';
import type { TupleTokens } from '../tokens.ts';

// Shapes: M walks gone on with, K symbols.

/** First halves of walks, one for each row of the path model's own tuples or of others. */
export interface FirstHalves {
  rows: Int32Array;
  first: readonly (readonly number[])[];
  tokens?: TupleTokens | undefined;
}

/** p(z_{L/2+1:L}|z_{1:L/2}, s, r), whatever it is made of (Section 6, step II). */
export interface WalkPath {
  /** Takes in first halves; what it gives lives as long as the scope that it was asked in. */
  begin(halves: FirstHalves): BegunWalks;
  train(on: boolean): unknown;
  free(): void;
}

/** Walks that go on step by step. */
export interface BegunWalks {
  /** log p of the next symbol, for second halves so far, all of one length, of the first halves `owners`. [M, K] */
  next(owners: readonly number[], seconds: readonly (readonly number[])[]): Tensor;
}
