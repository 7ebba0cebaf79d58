// Steps of second halves as counted in training walks, from general to special, each level smoothed by the one above.

/** What is known before a step of a second half. */
export interface StepContext {
  relation: number;
  /** z_{1:L/2} and the second half so far. */
  first: readonly number[];
  second: readonly number[];
}

/** Pseudo-counts with which the level above enters: as many as a context needs before it is believed by half. */
const pseudoCount = 4;

/** Keys of the contexts of a step, the general ones first; the last symbol is always known, since the graph is. */
function contextsOf({ relation, first, second }: StepContext): string[] {
  const step = second.length;
  const before = second.at(-1) ?? first.at(-1)!;
  const so = second.join();
  return [
    `a${before}`,
    `b${relation},${step},${before}`,
    `c${relation};${so};${before}`,
    `d${relation},${first[0]};${so}`,
    `e${relation},${first[0]},${first[1]};${so}`,
  ];
}

/** Counts of next symbols in contexts. */
export class ContextCounts {
  readonly #symbols: number;
  readonly #counts = new Map<string, Map<number, number>>();

  constructor(symbols: number) {
    this.#symbols = symbols;
  }

  add(relation: number, walk: ArrayLike<number>): void {
    const all = Array.from(walk);
    const half = all.length / 2;
    const first = all.slice(0, half);
    for (let step = 0; step < half; step++)
      for (const key of contextsOf({ relation, first, second: all.slice(half, half + step) })) {
        const counts = this.#counts.get(key) ?? new Map<number, number>();
        this.#counts.set(key, counts);
        const next = all[half + step]!;
        counts.set(next, (counts.get(next) ?? 0) + 1);
      }
  }

  /** p of the next symbol among those that are `open`, backed off along the graph. [K] */
  probabilities(context: StepContext, open: readonly number[]): Float64Array {
    let p = new Float64Array(this.#symbols);
    for (const symbol of open) p[symbol] = 1 / open.length;
    for (const key of contextsOf(context)) {
      const counts = this.#counts.get(key);
      if (counts) p = smoothed(p, counts, pseudoCount);
    }
    return p;
  }
}

/** (counts + pseudoCount·p) / (their sum + pseudoCount), over the symbols that p allows. */
export function smoothed(
  p: Float64Array,
  counts: ReadonlyMap<number, number>,
  pseudo: number,
): Float64Array<ArrayBuffer> {
  const allowed = [...counts].filter(([symbol]) => p[symbol]! > 0);
  const total = allowed.reduce((sum, [, count]) => sum + count, 0);
  const out = Float64Array.from(p, (share) => (pseudo * share) / (total + pseudo));
  for (const [symbol, count] of allowed) out[symbol]! += count / (total + pseudo);
  return out;
}
