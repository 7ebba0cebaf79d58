import type { TextCorpus, TokenStore } from '@hidden-schema/text';
import { Tensor, withoutGrad, zeros } from '@hidden-schema/torch';
import type { Replicas } from '../train/replicas.ts';
import { unitRows } from './dictionary.ts';
import { type Discovered, dictionaryOn, WalkCounts } from './encode.ts';
import { inferLinks } from './links.ts';
import { mostAtOnce, type PointSource, visitBlocks } from './point-source.ts';
import { type SparseRows, sparseProduct, transposed } from './points.ts';
import type { PursuitEncoder } from './pursuit-encoder.ts';
import { freeWalks } from './word-steps.ts';

/** Training texts as points, and their tokens. */
interface Trained {
  corpus: Pick<TextCorpus, 'store' | 'splits'>;
  points: PointSource;
  replicas: Replicas;
}

/**
 * Lets walks follow words: the encoder is given where words stand among the training texts, and the graph is set anew
 * from the walks that they make, on which every step is free, but to stay where walks never do.
 */
export function followWords(
  encoder: PursuitEncoder,
  discovered: Discovered,
  trained: Trained,
): { linkProbabilities: Tensor; counts: WalkCounts } {
  const { points, replicas } = trained;
  placeDirections(encoder, trained);
  const { options, symbols } = discovered;
  const counts = new WalkCounts(options);
  withoutGrad(() => {
    const dictionary = dictionaryOn(discovered);
    const begins = (dictionary.starts ?? symbols).transpose(0, 1);
    eachBlock(trained, (block, tokens) => {
      const columns = Array.from(tokens(), (text) => encoder.words!.columns(text));
      const later = encoder.steps!.explained({ columns, points: block }, dictionary, options.length - 1);
      counts.add(freeWalks([block.matmul(begins), ...later], options.stays).toNumbers());
    });
  });
  counts.share(replicas);
  const texts = points.count;
  const links = withoutGrad(() => inferLinks(counts.travelled(texts), { ...options, texts }).keep());
  replicas.broadcast([links]);
  return { linkProbabilities: links, counts };
}

/** This process's texts block by block: their points, and their tokens. */
function eachBlock(
  { corpus: { store, splits }, points }: Trained,
  visit: (block: Tensor, tokens: () => Iterable<ArrayLike<number>>) => void,
): void {
  const blocks = visitBlocks(points, mostAtOnce, (block, first) =>
    visit(block, () => tokensOf(store, splits.train.subarray(first, first + block.dim(0)))),
  );
  for (const _ of blocks);
}

/** The encoder's tokens of some texts, one after the other. */
function* tokensOf(store: TokenStore, rows: Iterable<number>): Generator<Int32Array> {
  for (const row of rows) yield store.ids('encoder', store.row(row));
}

/** Gives the encoder where words stand among the texts. */
function placeDirections(encoder: PursuitEncoder, trained: Trained): void {
  const { points, replicas } = trained;
  const sums = new WordSums({ pieces: encoder.words!.pieces.dim(0), width: points.width });
  try {
    eachBlock(trained, (block, tokens) => sums.add(block, encoder.words!.counts(tokens())));
    const found = sums.directions(replicas);
    // Those of rank 0 in all processes: processors of two kinds may round differently.
    replicas.broadcast([found.directions, found.telling]);
    encoder.placeWords(found);
    for (const tensor of [found.directions, found.telling]) tensor.free();
  } finally {
    sums.free();
  }
}

// Shapes: n texts of a block, V pieces, S width of a point.

/** Of the mean over all uses, what a piece has at least that tells: half leaves out stop words of any language. */
const leastShare = 0.5;

/** Where words stand among texts. */
export interface WordDirections {
  /** The direction in which the texts of each piece lie together; unit rows, zero where they lie anywhere. [V, S] */
  readonly directions: Tensor;
  /** 1 for a piece that tells of its texts, 0 for one that any text may have. [V] */
  readonly telling: Tensor;
}

/**
 * The mean m of the n unit points whose texts have a piece: its direction is where the piece stands, and its squared
 * length how much they agree. Points drawn at random have |m|² = 1/n in the mean, so that ρ = (|m|² − 1/n) / (1 − 1/n) is
 * zero for a piece that any text may have and one where its texts are all alike.
 */
export class WordSums {
  readonly #sums: Tensor; // [V, S] float64
  readonly #texts: Tensor; // [V] float64

  constructor({ pieces, width }: { pieces: number; width: number }) {
    this.#sums = zeros([pieces, width], { dtype: 'float64' }).keep();
    this.#texts = zeros([pieces], { dtype: 'float64' }).keep();
  }

  /** Points [n, S] of some texts, and counts [n, V] of their pieces. */
  add(points: Tensor, counts: SparseRows): void {
    withoutGrad(() => {
      const across = transposed(counts);
      const present = { ...across, values: across.values.fill(1) };
      this.#sums.add_(sparseProduct(present, points).to('float64'));
      const { indptr } = across;
      const texts = Float64Array.from({ length: indptr.length - 1 }, (_, v) => indptr[v + 1]! - indptr[v]!);
      this.#texts.add_(Tensor.fromArray(texts, [texts.length]));
    });
  }

  /** Over the texts of all processes. */
  directions(replicas: Replicas): WordDirections {
    replicas.sum([this.#sums, this.#texts]);
    return withoutGrad(() => {
      const means = this.#sums.div(this.#texts.clamp(1).unsqueeze(1));
      const telling = tellingOf(means.mul(means).sum(1).toNumbers(), this.#texts.toNumbers());
      return {
        directions: unitRows(means).to('float32').keep(),
        telling: Tensor.fromArray(telling, [telling.length]).keep(),
      };
    });
  }

  free(): void {
    this.#sums.free();
    this.#texts.free();
  }
}

/** 1 where ρ is more than half of its mean over all uses. */
function tellingOf(squaredLengths: readonly number[], texts: readonly number[]): Float32Array {
  // One text agrees with nothing.
  const agreement = texts.map((n, v) =>
    n > 1 ? Math.max(0, (squaredLengths[v]! - 1 / n) / (1 - 1 / n)) : 0,
  );
  const uses = texts.reduce((sum, n) => sum + n, 0);
  const mean = agreement.reduce((sum, rho, v) => sum + rho * texts[v]!, 0) / Math.max(1, uses);
  return Float32Array.from(agreement, (rho) => (rho > leastShare * mean ? 1 : 0));
}
