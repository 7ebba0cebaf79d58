// Coefficients B_2n / (2n (2n − 1)) and B_2n / (2n) of the asymptotic series (Abramowitz & Stegun 6.1.41, 6.3.18).
const lnGammaTail = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360];
const digammaTail = [1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760];
/** From here on the series is exact to about 1e-12. */
const far = 6;

/** ln Γ(x) for x > 0. */
export function lnGamma(x: number): number {
  let [at, product] = [x, 1];
  for (; at < far; at++) product *= at;
  const tail = series(lnGammaTail, 1 / (at * at)) / at;
  return (at - 0.5) * Math.log(at) - at + 0.5 * Math.log(2 * Math.PI) + tail - Math.log(product);
}

/** ψ(x) = d ln Γ / dx for x > 0. */
export function digamma(x: number): number {
  // Σ 1 / (x + i) as one fraction: a division each would take most of the time.
  let [at, above, below] = [x, 0, 1];
  for (; at < far; at++) {
    above = above * at + below;
    below *= at;
  }
  const square = 1 / (at * at);
  return Math.log(at) - 0.5 / at - series(digammaTail, square) * square - above / below;
}

function series(coefficients: readonly number[], x: number): number {
  let sum = 0;
  for (let i = coefficients.length - 1; i >= 0; i--) sum = sum * x + coefficients[i]!;
  return sum;
}

/** Terms of a series or fraction, at most, and where it ends. */
const mostTerms = 10_000;
const enough = 1e-16;

/** Q(a, x) = Γ(a, x) / Γ(a) for a > 0, x ≥ 0: by its series below a + 1, by its continued fraction above. */
export function upperGamma(a: number, x: number): number {
  if (x <= 0) return 1;
  const front = Math.exp(a * Math.log(x) - x - lnGamma(a));
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
