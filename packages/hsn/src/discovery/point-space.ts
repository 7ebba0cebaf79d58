import { UserError } from '@hidden-schema/base';
import { cat, Generator, noGrad, scope, type Tensor } from '@hidden-schema/torch';
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

/** The space of texts given as the encoder's unit vectors [N, D] and, where words count, their counts [N, V]. */
export function fitPointSpace(
  vectors: Tensor,
  words?: SparseRows,
  chosen: Partial<PointOptions> = {},
): PointSpace {
  const options = { ...pointDefaults, ...chosen };
  checkPoints(vectors);
  const own = centred(vectors, 1);
  if (!words || options.wordWeight === 0) return { vectors: own };
  checkRows(vectors, words);
  const space = fitWordSpace(words, options.wordDimensions, new Generator(options.seed));
  const found = wordVectors(space, words);
  const part = centred(found, options.wordWeight);
  found.free();
  return { vectors: own, words: { ...part, space } };
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

/** The mean, and the scale that makes the mean squared length weight². */
function centred(rows: Tensor, weight: number): Part {
  return noGrad(() =>
    scope(() => {
      const mean = rows.mean(0);
      const rest = rows.sub(mean);
      const square = rest.mul(rest).sum(1).mean().item();
      return { mean, scale: square > 1e-12 ? weight / Math.sqrt(square) : 0 };
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
