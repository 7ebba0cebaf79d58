import { entropyOfCounts } from './agreement.ts';

/** What walks tell of which text they belong to, where each text has one walk. */
export interface WalkInformation {
  /** Mutual information of text and walk in nats: the entropy of the walks, which are functions of the text. */
  readonly nats: number;
  /** ln N, which N texts with a walk each of their own reach. */
  readonly bound: number;
  readonly differentWalks: number;
  /** Share of texts whose walk no other text has, or no different one where the texts are given. */
  readonly toldApart: number;
}

/** Exact information of N walks of `length` symbols each [N, L]; no walk can tell apart texts that are the same. */
export function walkInformation(
  symbols: Int32Array,
  length: number,
  texts?: readonly string[],
): WalkInformation {
  const N = symbols.length / length;
  if (texts && texts.length !== N)
    throw new RangeError(`${N} texts are expected, one a walk, got ${texts.length}`);
  const walks = new Map<string, { count: number; of: Set<string | number> }>();
  for (let text = 0; text < N; text++) {
    const walk = symbols.subarray(text * length, (text + 1) * length).join(' ');
    const found = walks.get(walk) ?? { count: 0, of: new Set() };
    found.count++;
    found.of.add(texts?.[text] ?? text);
    walks.set(walk, found);
  }
  const counts = Array.from(walks.values(), ({ count }) => count);
  let alone = 0;
  for (const { count, of } of walks.values()) if (of.size === 1) alone += count;
  return {
    nats: entropyOfCounts(counts),
    bound: N === 0 ? 0 : Math.log(N),
    differentWalks: walks.size,
    toldApart: N === 0 ? 0 : alone / N,
  };
}
