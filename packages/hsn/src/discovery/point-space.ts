import { UserError } from '@hidden-schema/base';
import { cat, Generator, noGrad, scope, type Tensor, zeros } from '@hidden-schema/torch';
import { Replicas } from '../train/replicas.ts';
import { type CountSource, countsOf } from './count-blocks.ts';
import { unitRows } from './dictionary.ts';
import { checkPoints } from './encode.ts';
import { rowCount, type SparseRows } from './sparse.ts';
import { fitWordSpace, type WordSpace, wordVectors } from './word-space.ts';

// Shapes: N texts, D width of the encoder's vectors, d dimensions of words, S = D + d.

export interface PointOptions {
  /** Weight of words beside vectors: half, so that rare words sharpen a symbol and do not make one. */
  wordWeight: number;
  /** d: enough for topics, few enough to leave out chance. */
  wordDimensions: number;
  /** For the randomised SVD. */
  seed: number;
}

export const pointDefaults: PointOptions = { wordWeight: 0.5, wordDimensions: 150, seed: 0 };

/** A part of a point: what is taken off, and what the rest is multiplied by. */
interface Part {
  /** [width] */
  readonly mean: Tensor;
  readonly scale: number;
}

/** How texts become points; holds all that a new text needs. */
export interface PointSpace {
  readonly vectors: Part;
  readonly words?: Part & { readonly space: WordSpace };
}

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
  chosen: Partial<PointOptions> = {},
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
  chosen: Partial<PointOptions> = {},
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

/** Texts as points of length one, known and new ones alike. [N, S] */
export function toPoints(space: PointSpace, vectors: Tensor, words?: SparseRows): Tensor {
  checkPoints(vectors, space.vectors.mean.dim(0));
  return noGrad(() =>
    scope(() => {
      const own = placed(vectors, space.vectors);
      if (!space.words) return unitRows(own);
      if (!words) throw new UserError('this space was fitted with words; give the texts’ word counts too');
      checkRows(vectors, words, space.words.space.rarity.length);
      const found = wordVectors(space.words.space, words);
      // A text without known words says nothing of words: it stands at their mean, not far from it.
      const known = found.mul(found).sum(1, true).gt(0).to('float32');
      return unitRows(cat([own, placed(found, space.words).mul(known)], 1));
    }),
  );
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
    noGrad(() =>
      scope(() => {
        const wide = rows.to('float64');
        sum.add_(wide.sum(0));
        squares.add_(wide.mul(wide).sum());
      }),
    );
  replicas.sum([sum, squares]);
  return noGrad(() =>
    scope(() => {
      const mean = sum.div(count);
      const square = squares.item() / count - mean.mul(mean).sum().item();
      return { mean: mean.to('float32'), scale: square > 1e-12 ? weight / Math.sqrt(square) : 0 };
    }),
  );
}

function placed(rows: Tensor, { mean, scale }: Part): Tensor {
  return rows.sub(mean).mul(scale);
}

function checkRows(vectors: Tensor, words: SparseRows, columns = words.columns): void {
  if (rowCount(words) !== vectors.dim(0))
    throw new UserError(
      `${vectors.dim(0)} texts were given as vectors and ${rowCount(words)} as words; give the same texts`,
    );
  if (words.columns !== columns)
    throw new UserError(`the space knows ${columns} words, these counts have ${words.columns}`);
}
