/** log Γ(x) for x > 0: Stirling's series after shifting x above 10. */
export function logGamma(x: number): number {
  let shift = 0;
  let y = x;
  for (; y < 10; y++) shift += Math.log(y);
  const inverse = 1 / (y * y);
  const series = (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse / 1680))) / y;
  return (y - 0.5) * Math.log(y) - y + 0.5 * Math.log(2 * Math.PI) + series - shift;
}

/** ψ(x) = d log Γ(x)/dx for x > 0. */
export function digamma(x: number): number {
  let shift = 0;
  let y = x;
  for (; y < 10; y++) shift += 1 / y;
  const inverse = 1 / (y * y);
  const series = inverse * (1 / 12 - inverse * (1 / 120 - inverse * (1 / 252 - inverse / 240)));
  return Math.log(y) - 0.5 / y - series - shift;
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
