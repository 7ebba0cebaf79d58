import { logGamma } from '@hidden-schema/hsn/gamma';

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
