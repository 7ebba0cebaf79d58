import { entropyOfCounts } from './contingency.ts';

/** What walks tell of which text they belong to, where each text has one walk. */
export interface WalkInformation {
  /** Mutual information of text and walk in nats: the entropy of the walks, which are functions of the text. */
  readonly nats: number;
  /** ln N, which N texts with a walk each of their own reach. */
  readonly bound: number;
  readonly differentWalks: number;
  /** Share of texts whose walk no other text has. */
  readonly toldApart: number;
}

/** Exact information of N walks of `length` symbols each. [N, L] */
export function walkInformation(symbols: Int32Array, length: number): WalkInformation {
  const N = symbols.length / length;
  const counts = new Map<string, number>();
  for (let text = 0; text < N; text++) {
    const walk = symbols.subarray(text * length, (text + 1) * length).join(' ');
    counts.set(walk, (counts.get(walk) ?? 0) + 1);
  }
  let alone = 0;
  for (const count of counts.values()) if (count === 1) alone++;
  return {
    nats: entropyOfCounts(counts.values()),
    bound: N === 0 ? 0 : Math.log(N),
    differentWalks: counts.size,
    toldApart: N === 0 ? 0 : alone / N,
  };
}
