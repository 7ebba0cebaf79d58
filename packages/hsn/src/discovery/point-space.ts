import {
  call,
  callMany,
  Generator,
  randn,
  scope,
  type Tensor,
  withoutGrad,
  zeros,
} from '@hidden-schema/torch';
import { Replicas } from '../train/replicas.ts';
import { isSmall, mostAtOnce } from './point-source.ts';
import {
  checkPoints,
  checkRows,
  checkSparse,
  type Part,
  type PointSpace,
  pointDefaults,
  rowsAtATime,
  type SparseRows,
  sparseProduct,
  tfIdf,
  transposed,
  type WordSpace,
  wordVectors,
} from './points.ts';
import { type CountSource, countsOf, SparseSpool } from './scratch.ts';

// Shapes: N texts, D width of the encoder's vectors, d dimensions of words, S = D + d.

/** Texts block by block, as the encoder's unit vectors and as word counts; each process has its part of them. */
export interface TextBlocks {
  /** N, of all processes. */
  readonly count: number;
  /** D */
  readonly width: number;
  /** [n, D] each */
  vectors(): Iterable<Tensor>;
  /** The same texts in the same blocks, where words count. */
  readonly words?: CountSource | undefined;
}

/** The space of texts given as the encoder's unit vectors [N, D] and, where words count, their counts [N, V]. */
export function fitPointSpace(
  vectors: Tensor,
  words?: SparseRows,
  chosen: Partial<typeof pointDefaults> = {},
): PointSpace {
  checkPoints(vectors);
  if (words) checkRows(vectors, words);
  const [count, width] = vectors.shape as [number, number];
  const given = { count, width, vectors: () => [vectors], words: words && countsOf(words) };
  return fitSharedSpace(given, chosen);
}

/** The same of texts that processes hold together: all get the same space. */
export function fitSharedSpace(
  { count, width, vectors, words }: TextBlocks,
  chosen: Partial<typeof pointDefaults> = {},
  replicas = Replicas.alone,
): PointSpace {
  const options = { ...pointDefaults, ...chosen };
  const own = centred(checked(vectors()), { count, width, weight: 1 }, replicas);
  if (!words || options.wordWeight === 0) return { vectors: own };
  const generator = new Generator(options.seed);
  const space = fitWordSpace(words, options.wordDimensions, generator, replicas);
  const sizes = { count, width: space.directions.dim(1), weight: options.wordWeight };
  const part = centred(placedWords(space, words), sizes, replicas);
  return { vectors: own, words: { ...part, space } };
}

function* checked(blocks: Iterable<Tensor>): Iterable<Tensor> {
  for (const block of blocks) {
    checkPoints(block);
    yield block;
  }
}

function* placedWords(space: WordSpace, words: CountSource): Iterable<Tensor> {
  for (const block of words.blocks()) {
    const found = wordVectors(space, block);
    yield found;
    found.free();
  }
}

/** The mean, and the scale that makes the mean squared length weight², over the rows of all processes. */
function centred(
  blocks: Iterable<Tensor>,
  { count, width, weight }: { count: number; width: number; weight: number },
  replicas: Replicas,
): Part {
  const sum = zeros([width], { dtype: 'float64' });
  const squares = zeros([1], { dtype: 'float64' });
  for (const rows of blocks)
    withoutGrad(() => {
      const wide = rows.to('float64');
      sum.add_(wide.sum(0));
      squares.add_(wide.mul(wide).sum());
    });
  replicas.sum([sum, squares]);
  return withoutGrad(() => {
    const mean = sum.div(count);
    const square = squares.item() / count - mean.mul(mean).sum().item();
    return { mean: mean.to('float32'), scale: square > 1e-12 ? weight / Math.sqrt(square) : 0 };
  });
}

// Shapes: N texts, V words, d dimensions, w a few more than d.

/** Dimensions beyond those asked for, and rounds of products: what makes a randomised SVD near the true one. */
const spareDimensions = 10;
const rounds = 4;

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
    const directions = withoutGrad(() => {
      // Halko, Martinsson and Tropp: a few random directions, sharpened by rounds of XᵀX, which is a sum over texts.
      let sharpened = randn([columns, width], generator).to('float64'); // [V, w]
      for (let round = 0; round < rounds; round++)
        sharpened = scope(() => orthogonal(weighed.squareTimes(sharpened)));
      return singular(sharpened, weighed.squareTimes(sharpened), kept);
    });
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

const orthogonal = (columns: Tensor): Tensor => callMany('linalg_qr', columns, 'reduced')[0]!;

function rarityOf(counts: CountSource, replicas: Replicas): Float32Array {
  const found = new Float64Array(counts.columns);
  for (const block of counts.blocks()) {
    checkSparse(block);
    for (const [at, index] of block.indices.entries()) if (block.values[at]! > 0) found[index]!++;
  }
  return Float32Array.from(replicas.counts(found), (count) => Math.log((1 + counts.texts) / (1 + count)) + 1);
}
