import type { PaddedIds } from '@hidden-schema/text';
import { scope, Tensor } from '@hidden-schema/torch';
import type { Replicas } from '../train/replicas.ts';
import type { SparseRows } from './sparse.ts';

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
  return scope(() => {
    const uses = new Float64Array(vocabulary + 1);
    for (const [id, count] of own) uses[id] = count;
    uses[vocabulary] = read;
    const sum = Tensor.fromArray(uses, [uses.length]);
    replicas.sum([sum]);
    const all = sum.toArray() as Float64Array;
    return { found: [...all.subarray(0, vocabulary).entries()], count: all[vocabulary]! };
  });
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
export function columnsOf(pieces: ArrayLike<number>): Map<number, number> {
  return new Map(Array.from(pieces, (piece, column) => [piece, column]));
}

/** The sentences of a padded batch, each as long as it is. */
export function* unpadded({ ids, lengths, width }: PaddedIds): Generator<Int32Array> {
  for (const [row, length] of lengths.entries()) yield ids.subarray(row * width, row * width + length);
}
