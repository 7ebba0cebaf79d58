import type { SparseRows } from '@hidden-schema/hsn/discovery/points';
import { minimise } from './lbfgs.ts';

/** Features of texts, a row each. [N, columns] */
export type FeatureRows = SparseRows<Float64Array>;

export interface LogisticRegression {
  readonly classes: number;
  /** One row a class, the intercept last. [classes, width + 1] */
  readonly coefficients: Float64Array;
  /** C Σ loss + ½ Σ w² at the end. */
  readonly objective: number;
  readonly converged: boolean;
}

export interface LogisticOptions {
  /** C: how much the loss counts beside ½ Σ w². */
  strength?: number;
  tolerance?: number;
  iterations?: number;
}

/**
 * Multinomial logistic regression: the least of C Σ_n −ln softmax(W x_n + b)[y_n] + ½ Σ w², intercepts free; for two
 * classes the ordinary logistic regression, whose one w is the difference of the two rows here. Both as scikit-learn
 * defines them. Deterministic: starts at zero.
 */
export function fitLogisticRegression(
  rows: FeatureRows,
  labels: ArrayLike<number>,
  classes: number,
  { strength = 1, tolerance = 1e-8, iterations = 2000 }: LogisticOptions = {},
): LogisticRegression {
  const N = rows.indptr.length - 1;
  const coefficients = new Float64Array(classes * (rows.columns + 1));
  // Two rows ±w/2 have half the penalty of the one w.
  const penalty = (classes === 2 ? 2 : 1) / (strength * N);
  const { value, converged } = minimise(
    coefficients,
    (at, gradient) =>
      meanLoss(rows, labels, { at, gradient, classes }) + ridge(at, gradient, rows.columns, penalty),
    { tolerance, iterations },
  );
  return { classes, coefficients, objective: value * strength * N, converged };
}

interface Slopes {
  at: Float64Array;
  gradient: Float64Array;
  classes: number;
}

/** Mean cross-entropy; writes its gradient. */
function meanLoss(rows: FeatureRows, labels: ArrayLike<number>, { at, gradient, classes }: Slopes): number {
  const N = rows.indptr.length - 1;
  const W = rows.columns + 1;
  const scores = new Float64Array(classes);
  gradient.fill(0);
  let loss = 0;
  for (let row = 0; row < N; row++) {
    fillScores(rows, row, at, scores);
    const label = labels[row]!;
    const own = scores[label]!;
    const total = softmaxInPlace(scores);
    loss += total - own;
    scores[label]! -= 1;
    for (let c = 0; c < classes; c++) {
      const slope = scores[c]! / N;
      for (let i = rows.indptr[row]!; i < rows.indptr[row + 1]!; i++)
        gradient[c * W + rows.indices[i]!]! += slope * rows.values[i]!;
      gradient[c * W + W - 1]! += slope;
    }
  }
  return loss / N;
}

/** ½·penalty·Σ w² without the intercepts; adds its gradient. */
function ridge(at: Float64Array, gradient: Float64Array, width: number, penalty: number): number {
  let sum = 0;
  for (let i = 0; i < at.length; i++) {
    if (i % (width + 1) === width) continue;
    sum += at[i]! * at[i]!;
    gradient[i]! += penalty * at[i]!;
  }
  return (penalty * sum) / 2;
}

/** Scores become probabilities; returns ln Σ exp. */
function softmaxInPlace(scores: Float64Array): number {
  let most = Number.NEGATIVE_INFINITY;
  for (const score of scores) most = Math.max(most, score);
  let sum = 0;
  for (let c = 0; c < scores.length; c++) {
    scores[c] = Math.exp(scores[c]! - most);
    sum += scores[c]!;
  }
  for (let c = 0; c < scores.length; c++) scores[c]! /= sum;
  return most + Math.log(sum);
}

function fillScores(rows: FeatureRows, row: number, coefficients: Float64Array, scores: Float64Array): void {
  const W = rows.columns + 1;
  for (let c = 0; c < scores.length; c++) {
    let score = coefficients[c * W + W - 1]!;
    for (let i = rows.indptr[row]!; i < rows.indptr[row + 1]!; i++)
      score += coefficients[c * W + rows.indices[i]!]! * rows.values[i]!;
    scores[c] = score;
  }
}

/** The class with the highest score of each row, the first of equal ones. [N] */
export function predictedClasses(model: LogisticRegression, rows: FeatureRows): Uint32Array {
  const scores = new Float64Array(model.classes);
  return Uint32Array.from({ length: rows.indptr.length - 1 }, (_, row) => {
    fillScores(rows, row, model.coefficients, scores);
    let best = 0;
    for (let c = 1; c < scores.length; c++) if (scores[c]! > scores[best]!) best = c;
    return best;
  });
}

/** The probability of one class for each row. [N] */
export function classProbabilities(
  model: LogisticRegression,
  rows: FeatureRows,
  wanted: number,
): Float64Array {
  const scores = new Float64Array(model.classes);
  return Float64Array.from({ length: rows.indptr.length - 1 }, (_, row) => {
    fillScores(rows, row, model.coefficients, scores);
    softmaxInPlace(scores);
    return scores[wanted]!;
  });
}

/** Some of the rows, in the order given. */
export function selectRows(rows: FeatureRows, wanted: readonly number[]): FeatureRows {
  const indptr = new Int32Array(wanted.length + 1);
  for (const [at, row] of wanted.entries())
    indptr[at + 1] = indptr[at]! + rows.indptr[row + 1]! - rows.indptr[row]!;
  const indices = new Int32Array(indptr[wanted.length]!);
  const values = new Float64Array(indices.length);
  for (const [at, row] of wanted.entries()) {
    indices.set(rows.indices.subarray(rows.indptr[row]!, rows.indptr[row + 1]!), indptr[at]!);
    values.set(rows.values.subarray(rows.indptr[row]!, rows.indptr[row + 1]!), indptr[at]!);
  }
  return { columns: rows.columns, indptr, indices, values };
}
