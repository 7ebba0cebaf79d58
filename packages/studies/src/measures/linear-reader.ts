import { type Labelling, numbered } from './agreement.ts';
import {
  type FeatureRows,
  fitLogisticRegression,
  type LogisticOptions,
  predictedClasses,
  selectRows,
} from './logistic-regression.ts';
import type { SymbolUses } from './symbol-uses.ts';

/** Features of walks for a linear reader: 1 for each symbol used, or the sum of its weights where they are given. */
export function walkFeatures({ symbols, length, weights }: SymbolUses, K: number): FeatureRows {
  const N = symbols.length / length;
  const indptr = new Int32Array(N + 1);
  const indices = new Int32Array(symbols.length);
  const values = new Float64Array(symbols.length);
  let filled = 0;
  for (let text = 0; text < N; text++) {
    const first = filled;
    for (let at = text * length; at < (text + 1) * length; at++) {
      const symbol = symbols[at]!;
      if (symbol < 0) continue;
      const before = indices.subarray(first, filled).indexOf(symbol);
      const place = before < 0 ? filled++ : first + before;
      indices[place] = symbol;
      values[place] = weights ? values[place]! + weights[at]! : 1;
    }
    indptr[text + 1] = filled;
  }
  return { columns: K, indptr, indices: indices.slice(0, filled), values: values.slice(0, filled) };
}

export interface ReaderAccuracy {
  /** Mean over folds of the share of texts read rightly. */
  readonly accuracy: number;
  readonly folds: readonly number[];
}

/** How well labels can be read off features by logistic regression, on folds it has not seen. */
export function linearReaderAccuracy(
  rows: FeatureRows,
  labels: Labelling,
  { folds = 3, ...options }: LogisticOptions & { folds?: number } = {},
): ReaderAccuracy {
  const N = rows.indptr.length - 1;
  if (labels.length !== N) throw new RangeError(`${N} labels are expected, one a row, got ${labels.length}`);
  if (N < folds) throw new RangeError(`at least ${folds} rows are expected for ${folds} folds, got ${N}`);
  const { numbers } = numbered(labels);
  const accuracies = Array.from(foldRows(labels, folds), ({ train, test }) => {
    // A class that the other folds lack would have no finite intercept.
    const seen = [...new Set(train.map((row) => numbers[row]!))];
    const classOf = new Map(seen.map((label, at) => [label, at]));
    const classes = train.map((row) => classOf.get(numbers[row]!)!);
    const model = fitLogisticRegression(selectRows(rows, train), classes, seen.length, options);
    const read = predictedClasses(model, selectRows(rows, test));
    return test.filter((row, at) => seen[read[at]!] === numbers[row]).length / test.length;
  });
  return { accuracy: accuracies.reduce((sum, share) => sum + share, 0) / folds, folds: accuracies };
}

/** Fold by fold the items that a model learns from, and those that it is then asked about. */
export function* foldRows(
  labels: Labelling,
  folds: number,
): Generator<{ train: number[]; test: number[] }, void> {
  const { numbers, count } = numbered(labels);
  const foldOf = stratifiedFolds(numbers, count, folds);
  const rows = Array.from(foldOf.keys());
  for (let fold = 0; fold < folds; fold++)
    yield {
      train: rows.filter((row) => foldOf[row] !== fold),
      test: rows.filter((row) => foldOf[row] === fold),
    };
}

/**
 * A fold for each item, so that folds have nearly equal shares of each class, in the order of the items, dealt as
 * scikit-learn's StratifiedKFold deals them. Classes are numbered by first appearance.
 */
export function stratifiedFolds(classes: Uint32Array, count: number, folds: number): Uint32Array {
  const quota = Array.from({ length: count }, () => new Array<number>(folds).fill(0));
  for (const [at, label] of classes.slice().sort().entries()) quota[label]![at % folds]!++;
  const current = new Uint32Array(count);
  return classes.map((label) => {
    while (quota[label]![current[label]!] === 0) current[label]!++;
    quota[label]![current[label]!]!--;
    return current[label]!;
  });
}
