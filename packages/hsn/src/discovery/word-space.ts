import { callMany, type Generator, noGrad, randn, scope, type Tensor } from '@hidden-schema/torch';
import { checkSparse, rowCount, type SparseRows, sparseProduct, transposed } from './sparse.ts';

// Shapes: N texts, V words, d dimensions.

/** Dimensions beyond those asked for, and rounds of products: what makes a randomised SVD near the true one. */
const spareDimensions = 10;
const rounds = 4;

/** Texts' words as short vectors: TF-IDF and its truncated SVD (latent semantic analysis). */
export interface WordSpace {
  /** log((1 + N)/(1 + texts with the word)) + 1 [V] */
  readonly rarity: Float32Array;
  /** Right singular vectors. [V, d] */
  readonly directions: Tensor;
}

/** The space of word counts [N, V], one row a text. */
export function fitWordSpace(counts: SparseRows, dimensions: number, generator: Generator): WordSpace {
  checkSparse(counts);
  const rarity = rarityOf(counts);
  const weighed = tfIdf(counts, rarity);
  const kept = Math.min(dimensions, counts.columns, rowCount(counts));
  const width = Math.min(kept + spareDimensions, counts.columns, rowCount(counts));
  const directions = noGrad(() =>
    scope(() => {
      const across = transposed(weighed);
      // Halko, Martinsson and Tropp: the range of a few random products, sharpened by rounds of the matrix itself.
      let range = sparseProduct(weighed, randn([counts.columns, width], generator)); // [N, width]
      for (let round = 0; round < rounds; round++) {
        const other = orthogonal(sparseProduct(across, orthogonal(range)));
        range = sparseProduct(weighed, other);
      }
      const inside = sparseProduct(across, orthogonal(range)); // Xᵀ·Q [V, width]
      return callMany('linalg_svd', inside, false)[0]!.narrow(1, 0, kept).contiguous();
    }),
  );
  return { rarity, directions };
}

/** Texts in the space; a text without known words is all zeros. [N, d] */
export function wordVectors(space: WordSpace, counts: SparseRows): Tensor {
  checkSparse(counts);
  return noGrad(() => scope(() => sparseProduct(tfIdf(counts, space.rarity), space.directions)));
}

function orthogonal(columns: Tensor): Tensor {
  return callMany('linalg_qr', columns, 'reduced')[0]!;
}

function rarityOf(counts: SparseRows): Float32Array {
  const texts = new Float32Array(counts.columns);
  for (const [at, index] of counts.indices.entries()) if (counts.values[at]! > 0) texts[index]!++;
  return texts.map((count) => Math.log((1 + rowCount(counts)) / (1 + count)) + 1);
}

/** (1 + log count)·rarity, each row of length one; a word given twice in a row counts twice. */
function tfIdf(counts: SparseRows, rarity: Float32Array): SparseRows {
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
