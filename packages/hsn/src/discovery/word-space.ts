import { call, callMany, type Generator, noGrad, randn, scope, Tensor, zeros } from '@hidden-schema/torch';
import { Replicas } from '../train/replicas.ts';
import { type CountSource, SparseSpool } from './count-blocks.ts';
import { isSmall, mostAtOnce } from './point-source.ts';
import { checkSparse, rowsAtATime, type SparseRows, sparseProduct, transposed } from './sparse.ts';

// Shapes: N texts, V words, d dimensions, w a few more than d.

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

/** The space of word counts [N, V], one row a text, which processes hold together: all get that of rank 0. */
export function fitWordSpace(
  counts: CountSource,
  dimensions: number,
  generator: Generator,
  replicas = Replicas.alone,
): WordSpace {
  const { columns, texts } = counts;
  const rarity = rarityOf(counts, replicas);
  const weighed = new WeighedBlocks(counts, rarity, replicas);
  const kept = Math.min(dimensions, columns, texts);
  const width = Math.min(kept + spareDimensions, columns, texts);
  try {
    const directions = noGrad(() =>
      scope(() => {
        // Halko, Martinsson and Tropp: a few random directions, sharpened by rounds of XᵀX, which is a sum over texts.
        let sharpened = randn([columns, width], generator).to('float64'); // [V, w]
        for (let round = 0; round < rounds; round++)
          sharpened = scope(() => orthogonal(weighed.squareTimes(sharpened)));
        return singular(sharpened, weighed.squareTimes(sharpened), kept);
      }),
    );
    replicas.broadcast([directions]);
    return { rarity, directions };
  } finally {
    weighed.free();
  }
}

/** TF-IDF X [N, V] in blocks of texts, each held both ways round. */
class WeighedBlocks {
  readonly #columns: number;
  readonly #replicas: Replicas;
  /** Of many texts blocks are the same in all processes, and products of one may be float32, ten times as quick: see `isSmall`. */
  readonly #type: 'float32' | 'float64';
  readonly #rows = new SparseSpool();
  readonly #across = new SparseSpool();

  constructor(counts: CountSource, rarity: Float32Array, replicas: Replicas) {
    this.#columns = counts.columns;
    this.#replicas = replicas;
    this.#type = isSmall(counts.texts) ? 'float64' : 'float32';
    for (const block of counts.blocks())
      for (const some of rowsAtATime(tfIdf(block, rarity), mostAtOnce)) {
        this.#rows.add(some);
        this.#across.add(transposed(some));
      }
  }

  /** Xᵀ·(X·right), over the texts of all processes; float64. [V, w] → [V, w] */
  squareTimes(right: Tensor): Tensor {
    const sum = zeros([this.#columns, right.dim(1)], { dtype: 'float64' });
    const given = right.to(this.#type);
    const across = this.#across.blocks();
    for (const rows of this.#rows.blocks())
      scope(() => {
        const product = sparseProduct(across.next().value as SparseRows, sparseProduct(rows, given));
        sum.add_(product.to('float64'));
      });
    this.#replicas.sum([sum]);
    return sum;
  }

  free(): void {
    this.#rows.free();
    this.#across.free();
  }
}

/**
 * The first right singular vectors of X from orthogonal directions Z near them and Y = XᵀX·Z: with Zᵀ·Y = U·Λ·Uᵀ the columns
 * of Q = X·Z·U·Λ^(−1/2) are orthogonal, and Xᵀ·Q = Y·U·Λ^(−1/2) has the wanted vectors on its left. [V, d] float32
 */
function singular(directions: Tensor, square: Tensor, kept: number): Tensor {
  const inner = directions.transpose(0, 1).matmul(square);
  const symmetric = inner.add(inner.transpose(0, 1)).mul(0.5);
  const [values, vectors] = callMany('linalg_eigh', symmetric, 'L') as [Tensor, Tensor];
  // Directions that no text has would be divided by nothing.
  const floor = Math.max(1e-12 * values.amax().item(), 1e-300);
  const scale = values.clamp(floor).sqrt().pow(-1).mul(values.gt(floor).to('float64'));
  const inside = square.matmul(vectors).mul(scale);
  const found = callMany('linalg_svd', inside, false)[0]!.narrow(1, 0, kept);
  return upright(found).to('float32').contiguous();
}

/** Columns with the sign that makes their largest number positive: either would do, and rounding alone decides. */
function upright(columns: Tensor): Tensor {
  const largest = columns.abs().argmax(0).unsqueeze(0);
  return columns.mul(call('sign', columns.gather(0, largest)));
}

/** Texts in the space; a text without known words is all zeros. [N, d] */
export function wordVectors(space: WordSpace, counts: SparseRows): Tensor {
  checkSparse(counts);
  return noGrad(() => scope(() => sparseProduct(tfIdf(counts, space.rarity), space.directions)));
}

function orthogonal(columns: Tensor): Tensor {
  return callMany('linalg_qr', columns, 'reduced')[0]!;
}

function rarityOf(counts: CountSource, replicas: Replicas): Float32Array {
  const found = new Float64Array(counts.columns);
  for (const block of counts.blocks()) {
    checkSparse(block);
    for (const [at, index] of block.indices.entries()) if (block.values[at]! > 0) found[index]!++;
  }
  const texts = scope(() => {
    const sum = Tensor.fromArray(found, [found.length]);
    replicas.sum([sum]);
    return sum.toNumbers();
  });
  return Float32Array.from(texts, (count) => Math.log((1 + counts.texts) / (1 + count)) + 1);
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
