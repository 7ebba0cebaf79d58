/** KL[p; q] = Σ p log(p/q) in nats; infinite where q excludes what p has. */
export function klDivergence(p: ArrayLike<number>, q: ArrayLike<number>): number {
  let sum = 0;
  for (let k = 0; k < p.length; k++) {
    const mass = p[k]!;
    if (mass > 0) sum += mass * Math.log(mass / q[k]!);
  }
  return Math.max(0, sum);
}

/** Jensen–Shannon divergence in bits: 0 for equal distributions, 1 for those that share nothing. */
export function jensenShannon(p: ArrayLike<number>, q: ArrayLike<number>): number {
  const middle = Float64Array.from(p, (mass, k) => (mass + q[k]!) / 2);
  const nats = (klDivergence(p, middle) + klDivergence(q, middle)) / 2;
  return Math.min(1, nats / Math.LN2);
}

/** Shares of counts; all zero where nothing was counted. */
export function shares(counts: ArrayLike<number>): Float64Array {
  let total = 0;
  for (let k = 0; k < counts.length; k++) total += counts[k]!;
  return Float64Array.from(counts, (count) => (total === 0 ? 0 : count / total));
}

/** Shares after one more count was spread evenly over all, so that nothing seen once elsewhere is impossible here. */
export function smoothedShares(counts: ArrayLike<number>): Float64Array {
  return shares(Float64Array.from(counts, (count) => count + 1 / counts.length));
}

/** All divergences of a list, as a symmetric matrix. */
export function divergenceMatrix(distributions: readonly ArrayLike<number>[]): number[][] {
  return distributions.map((p, a) => distributions.map((q, b) => (a === b ? 0 : jensenShannon(p, q))));
}
