/**
 * How much each step of a walk counts for its symbol: the first fully, a step that stays where the walk is not at all, and
 * any other by how much of the text it tells beside the first, at most fully; fully where coefficients are not known. [L]
 */
export function stepWeights(walk: ArrayLike<number>, coefficients?: ArrayLike<number>): number[] {
  const first = coefficients?.[0] ?? 0;
  return Array.from(walk, (symbol, i) => {
    if (i === 0) return 1;
    if (symbol === walk[i - 1]) return 0;
    return coefficients && first > 0 ? Math.min(1, coefficients[i]! / first) : 1;
  });
}

/** The different symbols of a walk that ends by staying on its last one. */
export function withoutStays(walk: ArrayLike<number>): number[] {
  return Array.from(walk).filter((symbol, i) => i === 0 || symbol !== walk[i - 1]);
}
