import { UserError } from '@hidden-schema/base';
import type { PaddedIds } from '@hidden-schema/text';
import { callMany, cat, scope, Tensor, withoutGrad } from '@hidden-schema/torch';
import type { Replicas } from '../train/replicas.ts';
import { unitRows } from './dictionary.ts';

// Shapes: N texts, V words, D width of the encoder's vectors, d dimensions of words, S = D + d.

export const pointDefaults = {
  /** Weight of words beside vectors: half, so that rare words sharpen a symbol and do not make one. */
  wordWeight: 0.5,
  /** d: enough for topics, few enough to leave out chance. */
  wordDimensions: 150,
  /** For the randomised SVD. */
  seed: 0,
};

/** Texts' words as short vectors: TF-IDF and its truncated SVD (latent semantic analysis). */
export interface WordSpace {
  /** log((1 + N)/(1 + texts with the word)) + 1 [V] */
  readonly rarity: Float32Array;
  /** Right singular vectors. [V, d] */
  readonly directions: Tensor;
}

/** A part of a point: what is taken off, and what the rest is multiplied by. */
export interface Part {
  /** [width] */
  readonly mean: Tensor;
  readonly scale: number;
}

/** How texts become points; holds all that a new text needs. */
export interface PointSpace {
  readonly vectors: Part;
  readonly words?: Part & { readonly space: WordSpace };
}

/** Texts as points of length one, known and new ones alike. [N, S] */
export function toPoints(space: PointSpace, vectors: Tensor, words?: SparseRows): Tensor {
  checkPoints(vectors, space.vectors.mean.dim(0));
  return withoutGrad(() => {
    const own = placed(vectors, space.vectors);
    if (!space.words) return unitRows(own);
    if (!words) throw new UserError('this space was fitted with words; give the texts’ word counts too');
    checkRows(vectors, words, space.words.space.rarity.length);
    const found = wordVectors(space.words.space, words);
    // A text without known words says nothing of words: it stands at their mean, not far from it.
    const known = found.mul(found).sum(1, true).gt(0).to('float32');
    return unitRows(cat([own, placed(found, space.words).mul(known)], 1));
  });
}

/** Texts in the space; a text without known words is all zeros. [N, d] */
export function wordVectors(space: WordSpace, counts: SparseRows): Tensor {
  checkSparse(counts);
  return withoutGrad(() => sparseProduct(tfIdf(counts, space.rarity), space.directions));
}

const placed = (rows: Tensor, { mean, scale }: Part): Tensor => rows.sub(mean).mul(scale);

export function checkRows(vectors: Tensor, words: SparseRows, columns = words.columns): void {
  if (rowCount(words) !== vectors.dim(0))
    throw new UserError(
      `${vectors.dim(0)} texts were given as vectors and ${rowCount(words)} as words; give the same texts`,
    );
  if (words.columns !== columns)
    throw new UserError(`the space knows ${columns} words, these counts have ${words.columns}`);
}

/** (1 + log count)·rarity, each row of length one; a word given twice in a row counts twice. */
export function tfIdf(counts: SparseRows, rarity: Float32Array): SparseRows {
  const { indptr, indices } = counts;
  const values = counts.values.map((count, at) =>
    count > 0 ? (1 + Math.log(count)) * rarity[indices[at]!]! : 0,
  );
  for (let row = 0; row < indptr.length - 1; row++) {
    const own = values.subarray(indptr[row]!, indptr[row + 1]!);
    const length = Math.sqrt(own.reduce((sum, value) => sum + value * value, 0));
    if (length > 0) for (let i = 0; i < own.length; i++) own[i]! /= length;
  }
  return { ...counts, values };
}

/** Refuses points that would spoil a sum before any is made. */
export function checkPoints(points: Tensor, width?: number): void {
  const shape = `[${points.shape.join(', ')}]`;
  if (points.shape.length !== 2 || points.dim(0) === 0 || points.dim(1) === 0)
    throw new UserError(`points are rows of numbers, at least one of each, got the shape ${shape}`);
  if (points.dtype !== 'float32') throw new UserError(`points are float32, got ${points.dtype}`);
  if (width !== undefined && points.dim(1) !== width)
    throw new UserError(
      `points of width ${width} were expected, got ${shape}; make them with the space that the symbols were fitted in`,
    );
  const finite = scope(() => points.isFinite().all().to('float32').item());
  if (finite !== 1)
    throw new UserError('points hold NaN or infinite numbers; look at the vectors they come from');
}

/** A sparse matrix by rows (CSR): row i has `indices[indptr[i] … indptr[i + 1])` with the same places of `values`. */
export interface SparseRows<Values = Float32Array> {
  readonly columns: number;
  readonly indptr: Int32Array;
  readonly indices: Int32Array;
  readonly values: Values;
}

export const rowCount = (matrix: SparseRows): number => matrix.indptr.length - 1;

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
  for (let row = 0; row < indptr.length - 1; row++)
    for (let at = indptr[row]!; at < indptr[row + 1]!; at++) {
      const place = next[indices[at]!]!++;
      rows[place] = row;
      moved[place] = values[at]!;
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

// Shapes: N texts, V pieces.

/** A piece in fewer texts says nothing of topics; a small corpus has few of each. */
const fewestTexts = { small: 2, large: 5 };
const smallCorpus = 1000;
/** A piece in more than this share of texts tells none of them apart: stop words of any language, and marks. */
const mostShare = 0.5;

/** The processes that count pieces together, and how many pieces there may be. */
export interface SharedPieces {
  replicas: Replicas;
  vocabulary: number;
}

/**
 * The encoder's own pieces of words, in rising order, that tell texts apart; texts are read one after the other, each
 * process its part of them.
 */
export function tellingPieces(texts: Iterable<ArrayLike<number>>, shared?: SharedPieces): Int32Array {
  const own = new Map<number, number>();
  let read = 0;
  for (const ids of texts) {
    read++;
    for (const id of new Set(Array.from(ids))) own.set(id, (own.get(id) ?? 0) + 1);
  }
  const { found, count } = shared ? allUses(own, read, shared) : { found: own, count: read };
  const fewest = count < smallCorpus ? fewestTexts.small : fewestTexts.large;
  const kept = [...found].filter(([, uses]) => uses >= fewest && uses <= mostShare * count);
  return Int32Array.from(kept, ([id]) => id).sort();
}

/** How many texts of all processes have each piece, and how many texts there are. */
function allUses(
  own: ReadonlyMap<number, number>,
  read: number,
  { replicas, vocabulary }: SharedPieces,
): { found: [number, number][]; count: number } {
  const uses = new Float64Array(vocabulary + 1);
  for (const [id, count] of own) uses[id] = count;
  uses[vocabulary] = read;
  const all = replicas.counts(uses);
  return { found: [...all.subarray(0, vocabulary).entries()], count: all[vocabulary]! };
}

/** Counts of these pieces, a row a text. [N, V] */
export function pieceCounts(
  texts: Iterable<ArrayLike<number>>,
  columnOf: ReadonlyMap<number, number>,
): SparseRows {
  const indptr = [0];
  const indices: number[] = [];
  const values: number[] = [];
  for (const ids of texts) {
    const counts = new Map<number, number>();
    for (const id of Array.from(ids)) {
      const column = columnOf.get(id);
      if (column !== undefined) counts.set(column, (counts.get(column) ?? 0) + 1);
    }
    for (const [column, count] of [...counts].sort(([a], [b]) => a - b)) {
      indices.push(column);
      values.push(count);
    }
    indptr.push(indices.length);
  }
  return {
    columns: Math.max(1, columnOf.size),
    indptr: Int32Array.from(indptr),
    indices: Int32Array.from(indices),
    values: Float32Array.from(values),
  };
}

/** Which column each piece has. */
export const columnsOf = (pieces: ArrayLike<number>): Map<number, number> =>
  new Map(Array.from(pieces, (piece, column) => [piece, column]));

/** The sentences of a padded batch, each as long as it is. */
export function* unpadded({ ids, lengths, width }: PaddedIds): Generator<Int32Array> {
  for (const [row, length] of lengths.entries()) yield ids.subarray(row * width, row * width + length);
}
