/** Places of the highest scores, highest first; of equal ones the smaller tie number first. */
export function highest(scores: ArrayLike<number>, ties: ArrayLike<number>, most: number): number[] {
  const before = (a: number, b: number) => scores[b]! - scores[a]! || ties[a]! - ties[b]!;
  const best: number[] = [];
  for (let at = 0; at < scores.length; at++) {
    if (best.length === most && before(best[most - 1]!, at) <= 0) continue;
    let place = best.length;
    while (place > 0 && before(at, best[place - 1]!) < 0) place--;
    best.splice(place, 0, at);
    if (best.length > most) best.pop();
  }
  return best;
}

/** How alike a walk is to another. */
export interface WalkLikeness {
  index: number;
  /** Steps at which both come to the same symbol. */
  shared: number;
  /** Symbols that both visit, wherever; each as often as both do. */
  common: number;
}

/** The walks [N, L] most like a walk: by steps shared, then by symbols in common, then in order. */
export function nearestWalks(
  walks: Uint16Array,
  length: number,
  walk: ArrayLike<number>,
  options: { limit?: number; except?: number } = {},
): WalkLikeness[] {
  const { limit = 10, except } = options;
  const likeness = likenessTo(walk, length);
  const best: WalkLikeness[] = [];
  const worse = (a: WalkLikeness, b: WalkLikeness) =>
    b.shared - a.shared || b.common - a.common || a.index - b.index;
  for (let index = 0, at = 0; at < walks.length; index++, at += length) {
    if (index === except) continue;
    const found = { index, ...likeness(walks, at) };
    if (best.length === limit && worse(found, best[limit - 1]!) >= 0) continue;
    const place = best.findIndex((other) => worse(found, other) < 0);
    best.splice(place < 0 ? best.length : place, 0, found);
    if (best.length > limit) best.pop();
  }
  return best;
}

/** Compares a walk with the one that begins at a place among others, without a view of it, which would take longer. */
function likenessTo(walk: ArrayLike<number>, length: number) {
  const wanted = Uint16Array.from(walk);
  const comes = (list: Uint16Array, at: number, i: number) => i === 0 || list[at + i] !== list[at + i - 1];
  // Counts the wanted walk's symbols, without stays; used up and put back.
  const left = new Int32Array(0x10000);
  for (const [i, symbol] of wanted.entries()) if (comes(wanted, 0, i)) left[symbol]!++;
  return (walks: Uint16Array, at: number) => {
    let [shared, common] = [0, 0];
    for (let i = 0; i < length; i++) {
      if (!comes(walks, at, i)) continue;
      const symbol = walks[at + i]!;
      if (symbol === wanted[i] && comes(wanted, 0, i)) shared++;
      if (left[symbol]!-- > 0) common++;
    }
    for (let i = 0; i < length; i++) if (comes(walks, at, i)) left[walks[at + i]!]!++;
    return { shared, common };
  };
}
