import { UserError } from '@hidden-schema/base';
import { product } from '../measures/symbol-uses.ts';
import type { EncodedCorpus } from './encoded.ts';

/** A share as people write it: 5%, 5 % or 0.05. */
export function shareNumber(flag: string, text: string): number {
  const found = /^(\d+(?:\.\d+)?)\s*(%?)$/.exec(text.trim());
  const share = found ? Number(found[1]) / (found[2] === '%' ? 100 : 1) : Number.NaN;
  if (share > 0 && share < 1) return share;
  throw new UserError(`${flag} takes a share above 0 and below 1, such as 5% or 0.05, got ${text}`);
}

/** The least certain share of a run's texts, by the probability of their whole walks. */
export interface UnsureTexts {
  /** Texts with a walk of at most this probability are unsure. */
  threshold: number;
  /** Of the run's encoded texts, which are: just the share asked for, the first of equal ones. [N] */
  unsure: Uint8Array;
}

export function unsureTexts(encoded: EncodedCorpus, share: number): UnsureTexts {
  const certainty = Float64Array.from({ length: encoded.count }, (_, n) =>
    product(encoded.sentence(n).probabilities),
  );
  const order = Array.from(certainty.keys()).sort((a, b) => certainty[a]! - certainty[b]! || a - b);
  const chosen = order.slice(0, Math.max(1, Math.round(share * encoded.count)));
  const unsure = new Uint8Array(encoded.count);
  for (const n of chosen) unsure[n] = 1;
  return { threshold: certainty[chosen.at(-1)!]!, unsure };
}
