import { call, scope, Tensor } from '@hidden-schema/torch';
import type { FeatureRows } from './logistic-regression.ts';

// Shapes: N rows, P features and the intercept.

/**
 * Standard deviations of a penalised logistic regression's coefficients, intercept last: the square roots of the diagonal
 * of (XᵀWX + I/C)⁻¹ with W = p(1 − p), the Gaussian around the maximum of the posterior whose prior the penalty is
 * (Laplace's method; Bishop 2006, section 4.5). `probabilities` are those of the fitted model. [P + 1]
 */
export function coefficientDeviations(
  rows: FeatureRows,
  probabilities: ArrayLike<number>,
  strength: number,
): Float64Array {
  const P = rows.columns + 1;
  const curvature = new Float64Array(P * P);
  for (let i = 0; i < rows.columns; i++) curvature[i * P + i] = 1 / strength;
  for (let row = 0; row + 1 < rows.indptr.length; row++) {
    const weight = probabilities[row]! * (1 - probabilities[row]!);
    const [from, to] = [rows.indptr[row]!, rows.indptr[row + 1]!];
    for (let a = from; a <= to; a++) {
      const [i, x] = a === to ? [P - 1, 1] : [rows.indices[a]!, rows.values[a]!];
      for (let b = from; b <= to; b++) {
        const [j, y] = b === to ? [P - 1, 1] : [rows.indices[b]!, rows.values[b]!];
        curvature[i * P + j]! += weight * x * y;
      }
    }
  }
  return inverseDiagonal(curvature, P).map(Math.sqrt);
}

/** The diagonal of A⁻¹ for a positive definite A [P, P], by Cholesky. */
const inverseDiagonal = (matrix: Float64Array, P: number): Float64Array =>
  scope(() => {
    const lower = call('linalg_cholesky', Tensor.fromArray(matrix, [P, P]));
    return call('diagonal', call('cholesky_inverse', lower)).toArray() as Float64Array;
  });
