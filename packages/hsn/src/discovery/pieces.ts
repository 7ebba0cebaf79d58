import type { PaddedIds } from '@hidden-schema/text';
import type { SparseRows } from './sparse.ts';

// Shapes: N texts, V pieces.

/** A piece in fewer texts says nothing of topics; a small corpus has few of each. */
const fewestTexts = { small: 2, large: 5 };
const smallCorpus = 1000;
/** A piece in more than this share of texts tells none of them apart: stop words of any language, and marks. */
const mostShare = 0.5;

/** The encoder's own pieces of words, in rising order, that tell texts apart; texts are read one after the other. */
export function tellingPieces(texts: Iterable<ArrayLike<number>>): Int32Array {
  const found = new Map<number, number>();
  let count = 0;
  for (const ids of texts) {
    count++;
    for (const id of new Set(Array.from(ids))) found.set(id, (found.get(id) ?? 0) + 1);
  }
  const fewest = count < smallCorpus ? fewestTexts.small : fewestTexts.large;
  const kept = [...found].filter(([, texts]) => texts >= fewest && texts <= mostShare * count);
  return Int32Array.from(kept, ([id]) => id).sort();
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
