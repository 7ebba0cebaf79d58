/** Σ a_i b_i. */
export function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

/** a·b / |a||b|. */
export const cosine = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
