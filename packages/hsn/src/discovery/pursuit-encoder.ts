import { type PaddedIds, rowsOfPadded } from '@hidden-schema/text/text-batches';
import { full, nn, noGrad, scope, stack, Tensor, withoutGrad, zeros } from '@hidden-schema/torch';
import type { TextEncoder } from '@hidden-schema/transformers';
import { TextReader } from '../encoder/walk-queries.ts';
import type { GraphPosterior } from '../graph/posterior.ts';
import type { Symbols } from '../symbols/symbols.ts';
import { dictionaryOf, unitRows } from './dictionary.ts';
import { joinedWeights, joinPassages } from './passages.ts';
import { columnsOf, type PointSpace, pieceCounts, type SparseRows, toPoints, unpadded } from './points.ts';
import { pursue, solveNnls } from './pursuit.ts';
import { unitVectors } from './vectors/text-vectors.ts';
import type { WordDirections } from './word-following.ts';
import { WordSteps } from './word-steps.ts';

// Shapes: B texts, L steps, K symbols, D width of the encoder, V pieces, d their dimensions, S = D + d.

export interface PursuitSizes {
  /** L */
  length: number;
  /** V and d. */
  pieces: number;
  dimensions: number;
  /** κ_1 at first: nats for a step that explains all of a point; κ_i is `fade` times the one before. */
  sharpness: number;
  fade: number;
  /** What later steps follow: what the steps before leave over of a text, or its words. */
  follow: 'rest' | 'words';
  /** K, where walks name only symbols that stand out for their texts, and may end before their last step. */
  standing?: number | undefined;
}

/** The part of a point that pieces of words make: see `PointSpace`. */
class PieceSpace extends nn.Module {
  /** Token numbers of the counted pieces. [V] int32 */
  readonly pieces: Tensor;
  readonly rarity: Tensor; // [V]
  readonly directions: Tensor; // [V, d]
  readonly mean: Tensor; // [d]
  readonly scale: Tensor; // [1]
  /** Which column a piece has, and for which pieces that was asked last. */
  #columns: { key: string; of: Map<number, number> } | undefined;

  constructor(pieces: number, dimensions: number) {
    super();
    this.pieces = zeros([pieces], { dtype: 'int32' }).keep();
    this.rarity = zeros([pieces]).keep();
    this.directions = zeros([pieces, dimensions]).keep();
    this.mean = zeros([dimensions]).keep();
    this.scale = zeros([1]).keep();
  }

  place({ mean, scale, space }: NonNullable<PointSpace['words']>, pieces: Int32Array): void {
    this.pieces.copy_(Tensor.fromArray(pieces, [pieces.length]));
    this.rarity.copy_(Tensor.fromArray(space.rarity, [pieces.length]));
    this.directions.copy_(space.directions);
    this.mean.copy_(mean);
    this.scale.copy_(full([1], scale));
  }

  get part(): NonNullable<PointSpace['words']> {
    const space = { rarity: this.rarity.toArray() as Float32Array, directions: this.directions };
    return { mean: this.mean, scale: this.scale.item(), space };
  }

  counts(texts: Iterable<ArrayLike<number>>): SparseRows {
    return pieceCounts(texts, this.#columnOf());
  }

  /** The columns of a text's pieces in the order in which they stand; a piece that is not counted has none. */
  columns(text: ArrayLike<number>): number[] {
    const columnOf = this.#columnOf();
    return Array.from(text).flatMap((piece) => columnOf.get(piece) ?? []);
  }

  #columnOf(): ReadonlyMap<number, number> {
    const pieces = this.pieces.toArray() as Int32Array;
    const key = Buffer.from(pieces.buffer, pieces.byteOffset, pieces.byteLength).toString('base64');
    if (this.#columns?.key !== key) this.#columns = { key, of: columnsOf(pieces) };
    return this.#columns.of;
  }
}

/** Texts to read, with their points where they are known already. */
export interface PointBatch {
  encoder: PaddedIds;
  points?: Tensor | undefined;
  /** Passages of each text, where it has several: points are then theirs. [B] */
  passages?: Int32Array | undefined;
}

/**
 * h^enc as an unrolled pursuit: a text is a point of the space that symbols are vectors in, and each step's scores say
 * how much of what is left over each symbol would explain (see `pursue`), or how much of the text's next word
 * (`WordSteps`). It has no weights of its own beside κ: the dictionary is the network's symbols, the way is the network's graph.
 */
export class PursuitEncoder extends TextReader {
  /** Reads texts as points, which a batch may bring along. */
  readonly reads = 'points';
  /** log κ_i [L] */
  readonly sharpness: Tensor;
  /** The point space: see `PointSpace`. */
  readonly vectorMean: Tensor; // [D]
  readonly vectorScale: Tensor; // [1]
  /** What pieces of words add to a point; a corpus of a few texts may have none that tells them apart. */
  readonly words: PieceSpace | undefined;
  /** Where walks follow words. */
  readonly steps: WordSteps | undefined;
  /** Directions of texts that begin with each symbol [K, S], and cosines from which symbols stand out [K]. */
  readonly starts: Tensor | undefined;
  readonly cutoffs: Tensor | undefined;
  #symbols: Symbols | undefined;
  #graph: GraphPosterior | undefined;

  constructor(encoder: TextEncoder, sizes: PursuitSizes) {
    super(encoder, true);
    const { length, pieces, dimensions, sharpness, fade, follow, standing } = sizes;
    const logs = Float32Array.from({ length }, (_, i) => Math.log(sharpness) + i * Math.log(fade));
    this.sharpness = nn.parameter(Tensor.fromArray(logs, [length]));
    this.vectorMean = zeros([encoder.width]).keep();
    this.vectorScale = zeros([1]).keep();
    if (pieces > 0) this.words = new PieceSpace(pieces, dimensions);
    if (pieces > 0 && follow === 'words') this.steps = new WordSteps(pieces, encoder.width + dimensions);
    if (standing === undefined) return;
    this.starts = zeros([standing, encoder.width + (pieces > 0 ? dimensions : 0)]).keep();
    this.cutoffs = zeros([standing]).keep();
  }

  /** The symbols and the graph that walks are read on: those of the network it is part of. */
  attach(symbols: Symbols, graph: GraphPosterior): void {
    this.#symbols = symbols;
    this.#graph = graph;
  }

  /** Takes over a fitted space of points, with the pieces its words are. */
  place(space: PointSpace, pieces: Int32Array): void {
    withoutGrad(() => {
      this.vectorMean.copy_(space.vectors.mean);
      this.vectorScale.copy_(full([1], space.vectors.scale));
      if (space.words) this.words?.place(space.words, pieces);
    });
  }

  /** Takes over how symbols are told from others, and from where they stand out. */
  placeStanding({ starts, cutoffs }: { starts: Tensor; cutoffs: Tensor }): void {
    noGrad(() => {
      this.starts?.copy_(starts);
      this.cutoffs?.copy_(cutoffs);
    });
  }

  /** Takes over where words stand among texts, which later steps follow. */
  placeWords(found: WordDirections): void {
    withoutGrad(() => this.steps?.place(found));
  }

  get space(): PointSpace {
    const vectors = { mean: this.vectorMean, scale: this.vectorScale.item() };
    return { vectors, ...(this.words ? { words: this.words.part } : {}) };
  }

  /** Texts as unit vectors, without a gradient. [B, D] */
  vectors(ids: PaddedIds): Tensor {
    return withoutGrad(() => unitVectors(this.base, rowsOfPadded(ids)));
  }

  /** Texts as points, from their vectors and their pieces. [B, S] */
  points(texts: Iterable<ArrayLike<number>>, vectors: Tensor): Tensor {
    return toPoints(this.space, vectors, this.words?.counts(texts));
  }

  /** The points that a batch brings along, or those of its tokens. [B, S] */
  pointsOf({ encoder, points }: PointBatch): Tensor {
    return points ?? scope(() => this.points(unpadded(encoder), this.vectors(encoder)));
  }

  /**
   * log of what each step's symbols have in their favour, along the walk that pursues best; of all symbols, since a walk that
   * is drawn may be elsewhere on the graph, and has to follow its text from there. [B, L, K]
   */
  scores(batch: PointBatch): Tensor {
    const points = this.pointsOf(batch);
    const steps: Tensor[] = [];
    const sharpness = this.sharpness.exp().unbind(0);
    const dictionary = this.#dictionary();
    const { passages } = batch;
    if (passages) {
      const options = { length: sharpness.length, sharpness: (step: number) => sharpness[step]! };
      return stack(joinPassages({ points, passages }, dictionary, options).scores, 1);
    }
    const length = this.steps ? 1 : sharpness.length;
    pursue(points, dictionary, {
      length,
      candidates: 1,
      sharpness: (step) => sharpness[step]!,
      onStep: (_, scores) => steps.push(scores.reshape(points.dim(0), -1)),
    });
    if (this.steps) {
      const columns = Array.from(unpadded(batch.encoder), (text) => this.words!.columns(text));
      const later = this.steps.explained({ columns, points }, dictionary, sharpness.length - 1);
      steps.push(...later.map((explained, i) => explained.mul(sharpness[i + 1]!)));
    }
    return stack(steps, 1);
  }

  /** How much of its text each step of a walk tells: a ≥ 0 with x ≈ Σ_i a_i·e_{z_i}. [B, L] */
  weights(batch: PointBatch, walks: Tensor): Tensor {
    const { passages } = batch;
    return withoutGrad(() => {
      const points = this.pointsOf(batch);
      const dictionary = this.#dictionary();
      return passages
        ? joinedWeights({ points, passages }, dictionary, walks)
        : solveNnls(points, dictionary, walks);
    });
  }

  #dictionary() {
    const { starts, cutoffs } = this;
    const linkProbabilities =
      this.sharpness.dim(0) > 1 ? noGrad(() => this.#graph!.links().matrix()) : undefined;
    return dictionaryOf(unitRows(this.#symbols!.rows()), { linkProbabilities, starts, cutoffs });
  }
}
