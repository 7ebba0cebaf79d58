import { splitmix64 } from '@hidden-schema/base';
import { textKey } from './text-keys.ts';

/** Shares of train, valid and test, in any unit. */
export type SplitShares = readonly [train: number, valid: number, test: number];

export const DEFAULT_SHARES: SplitShares = [80, 10, 10];

/** A number in [0, 1) from a text's hash and the seed: the same text is drawn to the same split wherever it stands. */
export function rowDraw(hash: Uint32Array, seed: number): number {
  return Number(splitmix64(textKey(hash) ^ splitmix64(BigInt(seed) + 1n)) >> 11n) / 2 ** 53;
}

/** Place in TEXT_SPLITS of a draw. */
export function splitOfDraw(draw: number, [train, valid, test]: SplitShares): 0 | 1 | 2 {
  const at = draw * (train + valid + test);
  if (at < train) return 0;
  return at < train + valid ? 1 : 2;
}
