/** Lower and upper bound. */
export type Interval = readonly [low: number, high: number];

/** Normal quantile of a two-sided interval of 95 %. */
export const z95 = 1.959963984540054;

/** The interval of a share of `count` in `total` (Wilson 1927); all from 0 to 1 where nothing was counted. */
export function wilsonInterval(count: number, total: number, z: number = z95): Interval {
  if (total === 0) return [0, 1];
  const p = count / total;
  const over = 1 + (z * z) / total;
  const middle = (p + (z * z) / (2 * total)) / over;
  const half = (z / over) * Math.sqrt((p * (1 - p)) / total + (z * z) / (4 * total * total));
  return [count === 0 ? 0 : Math.max(0, middle - half), count === total ? 1 : Math.min(1, middle + half)];
}

/** A count among so many. */
export interface Counted {
  readonly count: number;
  readonly total: number;
}

export const shareOf = ({ count, total }: Counted): number => (total === 0 ? 0 : count / total);

/** The interval of the difference of two shares, a − b, from the Wilson intervals of both (Newcombe 1998, method 10). */
export function differenceInterval(a: Counted, b: Counted, z: number = z95): Interval {
  const [p, q] = [shareOf(a), shareOf(b)];
  const [lowA, highA] = wilsonInterval(a.count, a.total, z);
  const [lowB, highB] = wilsonInterval(b.count, b.total, z);
  return [p - q - Math.hypot(p - lowA, highB - q), p - q + Math.hypot(highA - p, q - lowB)];
}

/** Cohen's h = 2 asin √p − 2 asin √q: 0.2 is small, 0.5 middling, 0.8 large (Cohen 1988). */
export const cohensH = (p: number, q: number): number =>
  2 * Math.asin(Math.sqrt(p)) - 2 * Math.asin(Math.sqrt(q));
