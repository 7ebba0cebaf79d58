/** Walks of N texts [N, L] over K symbols, and the group of each, −1 for none. */
export interface GroupedWalks {
  readonly walks: ArrayLike<number>;
  /** K and L. */
  readonly symbols: number;
  readonly length: number;
  /** [N] */
  readonly groupOf: ArrayLike<number>;
  /** How many groups there are. */
  readonly groups: number;
}

/** In how many texts of each group a symbol, or a link, occurs. */
export interface Presence {
  /** Texts of each group. [G] */
  readonly texts: Int32Array;
  /** [K][G] */
  readonly symbols: readonly Int32Array[];
  /** Links that some walk takes, i < j, either way. */
  readonly links: readonly { readonly link: readonly [i: number, j: number]; readonly counts: Int32Array }[];
}

/** Counts texts, not steps: texts are drawn one by one, the steps of a walk are not. */
export function countPresence({ walks, symbols: K, length: L, groupOf, groups: G }: GroupedWalks): Presence {
  const texts = new Int32Array(G);
  const symbols = Array.from({ length: K }, () => new Int32Array(G));
  const links = new Map<number, Int32Array>();
  const lastOf = new Int32Array(K).fill(-1);
  const taken = new Set<number>();
  for (let n = 0; n < groupOf.length; n++) {
    const group = groupOf[n]!;
    if (!(group >= 0)) continue;
    texts[group]!++;
    taken.clear();
    for (let at = n * L; at < (n + 1) * L; at++) {
      const here = walks[at]!;
      if (lastOf[here] !== n) symbols[here]![group]!++;
      lastOf[here] = n;
      const before = at === n * L ? here : walks[at - 1]!;
      if (before !== here) taken.add(Math.min(before, here) * K + Math.max(before, here));
    }
    for (const key of taken) {
      const counts = links.get(key) ?? new Int32Array(G);
      counts[group]!++;
      links.set(key, counts);
    }
  }
  const listed = [...links].sort(([a], [b]) => a - b);
  return {
    texts,
    symbols,
    links: listed.map(([key, counts]) => ({ link: [Math.floor(key / K), key % K] as const, counts })),
  };
}
