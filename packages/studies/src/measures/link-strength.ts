import { type Interval, z95 } from './proportions.ts';

/** How often walks go between two symbols, beside what chance would do. */
export interface LinkStrength {
  /** i < j */
  readonly i: number;
  readonly j: number;
  /** Walks that go from one to the other, either way. */
  readonly flow: number;
  /** The same where the ends of all moves are paired by chance: n_i n_j / 2M, n being ends at a symbol and M all moves. */
  readonly expected: number;
  /** flow / expected, with an interval of 95 % from the Poisson distribution of the flow (Byar's approximation). */
  readonly lift: number;
  readonly interval: Interval;
}

/** Walks of texts [N, L] over K symbols. */
interface Walks {
  readonly walks: ArrayLike<number>;
  readonly symbols: number;
  readonly length: number;
}

/**
 * The links that walks take, the strongest first: by the lower end of the interval of their lift, so that a link which few
 * walks take must be taken far more often than by chance. Stays are no moves.
 */
export function linkStrengths({ walks, symbols: K, length: L }: Walks): LinkStrength[] {
  const flows = new Map<number, number>();
  const ends = new Float64Array(K);
  let moves = 0;
  for (let at = 1; at < walks.length; at++) {
    const [from, to] = [walks[at - 1]!, walks[at]!];
    if (at % L === 0 || from === to) continue;
    const key = Math.min(from, to) * K + Math.max(from, to);
    flows.set(key, (flows.get(key) ?? 0) + 1);
    ends[from]!++;
    ends[to]!++;
    moves++;
  }
  return [...flows]
    .map(([key, flow]) => {
      const [i, j] = [Math.floor(key / K), key % K];
      const expected = (ends[i]! * ends[j]!) / (2 * moves);
      const [low, high] = poissonInterval(flow);
      return {
        ...{ i, j, flow, expected, lift: flow / expected },
        interval: [low / expected, high / expected] as const,
      };
    })
    .sort((a, b) => b.interval[0] - a.interval[0] || b.flow - a.flow || a.i - b.i || a.j - b.j);
}

/** The mean of a Poisson distribution that gave a count, 95 % (Byar's approximation; Breslow and Day 1987). */
export function poissonInterval(count: number): Interval {
  const limit = (n: number, z: number) => n * (1 - 1 / (9 * n) + z / (3 * Math.sqrt(n))) ** 3;
  return [count === 0 ? 0 : limit(count, -z95), limit(count + 1, z95)];
}

/** Of each symbol its few strongest links that are taken more often than by chance, each link once. */
export function strongestLinks<T extends Pick<LinkStrength, 'i' | 'j' | 'interval'>>(
  links: readonly T[],
  ofEach: number,
): T[] {
  const taken = new Map<number, number>();
  return links.filter(({ i, j, interval }) => {
    if (interval[0] <= 1) return false;
    const kept = [i, j].some((symbol) => (taken.get(symbol) ?? 0) < ofEach);
    if (kept) for (const symbol of [i, j]) taken.set(symbol, (taken.get(symbol) ?? 0) + 1);
    return kept;
  });
}

/** The strongest links of each symbol as [i, j, log lift], from 0 for chance to 1 for the strongest of all. */
export function scaledLinks(
  links: readonly Pick<LinkStrength, 'i' | 'j' | 'interval'>[],
  ofEach: number,
): [i: number, j: number, strength: number][] {
  const kept = strongestLinks(links, ofEach);
  const most = Math.log(kept[0]?.interval[0] ?? 2);
  return kept.map(({ i, j, interval: [low] }) => [i, j, Math.log(low) / most]);
}
