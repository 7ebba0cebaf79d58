import { logGamma } from '@hidden-schema/hsn/gamma';

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

/** Terms of a series or fraction, at most, and where it ends. */
const mostTerms = 10_000;
const enough = 1e-16;

/** Q(a, x) = Γ(a, x) / Γ(a) for a > 0, x ≥ 0: by its series below a + 1, by its continued fraction above. */
export function upperGamma(a: number, x: number): number {
  if (x <= 0) return 1;
  const front = Math.exp(a * Math.log(x) - x - logGamma(a));
  if (x < a + 1) {
    let [term, sum] = [1 / a, 1 / a];
    for (let n = 1; n < mostTerms && term > enough * sum; n++) {
      term *= x / (a + n);
      sum += term;
    }
    return 1 - front * sum;
  }
  // Lentz's method.
  let [b, c] = [x + 1 - a, Number.MAX_VALUE];
  let d = 1 / b;
  let fraction = d;
  for (let n = 1; n < mostTerms; n++) {
    const factor = -n * (n - a);
    b += 2;
    d = 1 / (factor * d + b);
    c = b + factor / c;
    fraction *= c * d;
    if (Math.abs(c * d - 1) < enough) break;
  }
  return front * fraction;
}

/** Pearson's test that a share is the same in all groups that have any items: χ² with one degree less than groups. */
export function homogeneityTest(groups: readonly Counted[]): number {
  const filled = groups.filter(({ total }) => total > 0);
  const share = shareOf({
    count: filled.reduce((sum, { count }) => sum + count, 0),
    total: filled.reduce((sum, { total }) => sum + total, 0),
  });
  if (share === 0 || share === 1 || filled.length < 2) return 1;
  const statistic = filled.reduce(
    (sum, { count, total }) => sum + (count - total * share) ** 2 / (total * share * (1 - share)),
    0,
  );
  return upperGamma((filled.length - 1) / 2, statistic / 2);
}

/** Tables as probable as the one seen, but for rounding, count as not more probable. */
const rounding = 1e-7;

/**
 * Fisher's exact test of a 2 × 2 table [[a, b], [c, d]], two-sided: the probability, given the margins, of all tables
 * that are not more probable than this one.
 */
export function fisherExact(a: number, b: number, c: number, d: number): number {
  const [row, column, total] = [a + b, a + c, a + b + c + d];
  const [least, most] = [Math.max(0, row + column - total), Math.min(row, column)];
  // Logarithms of how much more probable another table is than the one seen: the mode may be out of reach of a double.
  let sum = 1;
  for (let [k, log] = [a, 0]; k < most; k++) {
    log += Math.log(((row - k) * (column - k)) / ((k + 1) * (total - row - column + k + 1)));
    if (log <= rounding) sum += Math.exp(log);
  }
  for (let [k, log] = [a, 0]; k > least; k--) {
    log += Math.log((k * (total - row - column + k)) / ((row - k + 1) * (column - k + 1)));
    if (log <= rounding) sum += Math.exp(log);
  }
  const own = lnChoose(row, a) + lnChoose(total - row, column - a) - lnChoose(total, column);
  return Math.min(1, Math.exp(own) * sum);
}

/** McNemar's exact test: whether `onlyFirst` and `onlySecond` are draws of a fair coin, two-sided. */
export function mcNemarExact(onlyFirst: number, onlySecond: number): number {
  const total = onlyFirst + onlySecond;
  const fewer = Math.min(onlyFirst, onlySecond);
  let tail = 0;
  for (let k = 0; k <= fewer; k++) tail += Math.exp(lnChoose(total, k) - total * Math.LN2);
  return Math.min(1, 2 * tail);
}

/** ln of the number of ways to choose k of n. */
const lnChoose = (n: number, k: number): number => logGamma(n + 1) - logGamma(k + 1) - logGamma(n - k + 1);

/** Tests with their p-values corrected. */
export function withCorrected<T extends { p: number }>(tested: readonly T[]): (T & { corrected: number })[] {
  const values = benjaminiHochberg(tested.map(({ p }) => p));
  return tested.map((one, at) => ({ ...one, corrected: values[at]! }));
}

/** p-values corrected for how many there are, so that their bound is a share of false findings (Benjamini & Hochberg 1995). */
export function benjaminiHochberg(values: ArrayLike<number>): Float64Array {
  const order = Array.from({ length: values.length }, (_, at) => at).sort((a, b) => values[b]! - values[a]!);
  const corrected = new Float64Array(values.length);
  let least = 1;
  for (const [place, at] of order.entries()) {
    least = Math.min(least, (values[at]! * values.length) / (values.length - place));
    corrected[at] = least;
  }
  return corrected;
}
