import { UserError } from '@hidden-schema/base';
import { callMany, Tensor } from '@hidden-schema/torch';

/** A sparse matrix by rows (CSR): row i has `indices[indptr[i] … indptr[i + 1])` with the same places of `values`. */
export interface SparseRows<Values = Float32Array> {
  readonly columns: number;
  readonly indptr: Int32Array;
  readonly indices: Int32Array;
  readonly values: Values;
}

export function rowCount(matrix: SparseRows): number {
  return matrix.indptr.length - 1;
}

/** Refuses a matrix whose numbers do not fit together, before one of them is used as a place in memory. */
export function checkSparse({ columns, indptr, indices, values }: SparseRows): void {
  const fail = (what: string): never => {
    throw new UserError(`a sparse matrix of ${columns} columns was expected, but ${what}`);
  };
  if (!Number.isSafeInteger(columns) || columns < 1) fail('it has none');
  if (indptr.length < 1 || indptr[0] !== 0) fail('its rows do not start at 0');
  for (let i = 1; i < indptr.length; i++)
    if (indptr[i]! < indptr[i - 1]!) fail(`row ${i - 1} ends before it starts`);
  const stored = indptr.at(-1)!;
  if (indices.length !== stored || values.length !== stored)
    fail(`${stored} numbers were announced, ${indices.length} places and ${values.length} values came`);
  const place = indices.findIndex((index) => index < 0 || index >= columns);
  if (place >= 0) fail(`number ${place} stands in column ${indices[place]}`);
  const wrong = values.findIndex((value) => !Number.isFinite(value));
  if (wrong >= 0) fail(`number ${wrong} is ${values[wrong]}`);
}

/** A matrix in parts of so many rows, the last one shorter. */
export function* rowsAtATime(
  { columns, indptr, indices, values }: SparseRows,
  most: number,
): Generator<SparseRows> {
  for (let first = 0; first < indptr.length - 1; first += most) {
    const ends = indptr.subarray(first, first + most + 1);
    const [from, to] = [ends[0]!, ends.at(-1)!];
    yield {
      columns,
      indptr: ends.map((end) => end - from),
      indices: indices.subarray(from, to),
      values: values.subarray(from, to),
    };
  }
}

/** The same matrix with rows and columns exchanged. */
export function transposed(matrix: SparseRows): SparseRows {
  const { columns, indptr, indices, values } = matrix;
  const starts = new Int32Array(columns + 1);
  for (const index of indices) starts[index + 1]!++;
  for (let column = 0; column < columns; column++) starts[column + 1]! += starts[column]!;
  const next = starts.slice(0, columns);
  const rows = new Int32Array(indices.length);
  const moved = new Float32Array(values.length);
  for (let row = 0; row < indptr.length - 1; row++) {
    for (let at = indptr[row]!; at < indptr[row + 1]!; at++) {
      const place = next[indices[at]!]!++;
      rows[place] = row;
      moved[place] = values[at]!;
    }
  }
  return { columns: rowCount(matrix), indptr: starts, indices: rows, values: moved };
}

/** Sparse [N, V] times dense [V, d] → [N, d]: a weighted sum of rows for each row, which libtorch calls a bag. */
export function sparseProduct(matrix: SparseRows, dense: Tensor): Tensor {
  const { indptr, indices, values } = matrix;
  const places = Tensor.fromArray(indices, [indices.length]).to('int64');
  const starts = Tensor.fromArray(indptr, [indptr.length]).to('int64');
  const weights = Tensor.fromArray(values, [values.length]).to(dense.dtype);
  const sum = 0;
  return callMany('embedding_bag', dense, places, starts, false, sum, false, weights, true)[0]!;
}
