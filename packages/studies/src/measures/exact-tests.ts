import { logGamma } from '@hidden-schema/hsn/gamma';

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
