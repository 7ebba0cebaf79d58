// Coefficients B_2n / (2n (2n − 1)) and B_2n / (2n) of the asymptotic series (Abramowitz & Stegun 6.1.41, 6.3.18).
const LOG_GAMMA_TAIL = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360];
const DIGAMMA_TAIL = [1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760];
/** Where the series begins: from here on it is exact to about 1e-12. */
const SERIES_START = 6;

/** log Γ(x) for x > 0. */
export function logGamma(x: number): number {
  let [at, product] = [x, 1];
  for (; at < SERIES_START; at++) product *= at;
  const tail = series(LOG_GAMMA_TAIL, 1 / (at * at)) / at;
  return (at - 0.5) * Math.log(at) - at + 0.5 * Math.log(2 * Math.PI) + tail - Math.log(product);
}

/** ψ(x) = d log Γ(x)/dx for x > 0. */
export function digamma(x: number): number {
  // Σ 1 / (x + i) as one fraction: a division each would take most of the time.
  let [at, above, below] = [x, 0, 1];
  for (; at < SERIES_START; at++) {
    above = above * at + below;
    below *= at;
  }
  const square = 1 / (at * at);
  return Math.log(at) - 0.5 / at - series(DIGAMMA_TAIL, square) * square - above / below;
}

function series(coefficients: readonly number[], x: number): number {
  let sum = 0;
  for (let i = coefficients.length - 1; i >= 0; i--) sum = sum * x + coefficients[i]!;
  return sum;
}

/** KL[Beta(a, b); Beta(c, d)]. */
export function betaKl(a: number, b: number, c: number, d: number): number {
  const logBeta = (x: number, y: number) => logGamma(x) + logGamma(y) - logGamma(x + y);
  return (
    logBeta(c, d) -
    logBeta(a, b) +
    (a - c) * digamma(a) +
    (b - d) * digamma(b) +
    (c - a + d - b) * digamma(a + b)
  );
}
