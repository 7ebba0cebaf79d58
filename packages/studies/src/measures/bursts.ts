import type { Counted } from './proportions.ts';

/** Periods `from` to `to`, both counted, in which something was more frequent than at other times. */
export interface Burst {
  from: number;
  to: number;
  /** Nats by which the periods are more likely at the higher rate than at the usual one. */
  weight: number;
}

/**
 * Bursts of a share over periods: the cheapest sequence of the two states "usual" and "burst", by dynamic programming
 * (Kleinberg 2003, section 4, batches). The burst's share is `rise` times the usual one, or half way to 1 where that is
 * less; it must win γ·ln(periods) nats, γ being `cost`.
 */
export function burstsOf(periods: readonly Counted[], { rise = 2, cost = 2 } = {}): Burst[] {
  const all = periods.reduce((sum, { total }) => sum + total, 0);
  const usual = all === 0 ? 0 : periods.reduce((sum, { count }) => sum + count, 0) / all;
  if (usual === 0 || usual === 1) return [];
  const high = Math.min(rise * usual, (1 + usual) / 2);
  // What a period saves in the higher state; ln C(total, count) is the same in both.
  const gains = periods.map(
    ({ count, total }) =>
      count * Math.log(high / usual) + (total - count) * Math.log((1 - high) / (1 - usual)),
  );
  return runsOf(cheapest(gains, cost * Math.log(periods.length)), gains);
}

/** Whether each period is in the higher state; going up costs `rise`, going down nothing. */
function cheapest(gains: readonly number[], rise: number): boolean[] {
  let best = { low: 0, high: Number.NEGATIVE_INFINITY };
  const came = gains.map((gain) => {
    const from = { low: best.high > best.low, high: best.high >= best.low - rise };
    best = { low: Math.max(best.low, best.high), high: Math.max(best.high, best.low - rise) + gain };
    return from;
  });
  let high = best.high > best.low;
  const states: boolean[] = [];
  for (const from of came.reverse()) {
    states.unshift(high);
    high = high ? from.high : from.low;
  }
  return states;
}

function runsOf(states: readonly boolean[], gains: readonly number[]): Burst[] {
  const bursts: Burst[] = [];
  for (const [at, high] of states.entries()) {
    if (!high) continue;
    if (at > 0 && states[at - 1]) {
      const last = bursts.at(-1)!;
      last.to = at;
      last.weight += gains[at]!;
    } else bursts.push({ from: at, to: at, weight: gains[at]! });
  }
  return bursts;
}
