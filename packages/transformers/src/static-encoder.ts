import { call, callMany, embedding, nn, noGrad, scope, Tensor } from '@hidden-schema/torch';
import type { TextEncoder } from './text-encoder.ts';

// Shapes: B texts, T tokens, V pieces of the vocabulary, d dimensions of a piece, P pieces of the sample, D width.

/** What a static encoder is made of: a vector for each piece of the vocabulary, and a linear map to its teacher's vectors. */
export interface StaticParts {
  /** Vectors of pieces. [V, d] */
  pieces: Tensor;
  /** Weight of each piece in a text, log(N / texts that have it); 0 for special tokens. [V] */
  rarity: Tensor;
  /** The row of `words` that belongs to a piece; 0 for pieces without one. [V] int32 */
  columns: Tensor;
  /** What a piece adds to a text's vector by itself; the first row is zero. [P + 1, D] */
  words: Tensor;
  /** From the mean of pieces' vectors to the teacher's. [d, D] */
  projection: Tensor;
  /** [D] */
  shift: Tensor;
}

/** What is known of a static encoder beside its tensors. */
export interface StaticNotes {
  /** The encoder that it was distilled from. */
  teacher: string;
  /** Texts that it was fitted on, and the mean cosine of its vectors to the teacher's on texts left out. */
  fitted: { texts: number; cosine: number };
}

/** The longest text that a static encoder reads: it has no positions, so only memory bounds it. */
const mostTokens = 100_000;

/** Each text's distinct pieces with their weights, one text after the other. */
export interface PieceBags {
  indices: Int32Array;
  /** Where each text begins. [B] */
  offsets: Int32Array;
  /** tf-idf, of unit length for each text. */
  weights: Float32Array;
}

/** Pieces with weights (1 + log count)·rarity, of unit length; a text of special tokens alone has none. */
export function pieceBags(texts: readonly ArrayLike<number>[], rarity: Float32Array): PieceBags {
  const indices: number[] = [];
  const weights: number[] = [];
  const offsets = new Int32Array(texts.length);
  for (const [n, text] of texts.entries()) {
    offsets[n] = indices.length;
    const counts = new Map<number, number>();
    for (let at = 0; at < text.length; at++) {
      const piece = text[at]!;
      if (rarity[piece]! > 0) counts.set(piece, (counts.get(piece) ?? 0) + 1);
    }
    let square = 0;
    for (const [piece, count] of counts) {
      const weight = (1 + Math.log(count)) * rarity[piece]!;
      indices.push(piece);
      weights.push(weight);
      square += weight * weight;
    }
    const length = Math.sqrt(square);
    for (let at = offsets[n]!; at < weights.length; at++) weights[at]! /= length;
  }
  return { indices: Int32Array.from(indices), offsets, weights: Float32Array.from(weights) };
}

/** Weighted sums of a table's rows. [B, columns of the table] */
export function bagSums(table: Tensor, { indices, offsets, weights }: PieceBags): Tensor {
  const of = (data: Int32Array | Float32Array) => Tensor.fromArray(data, [data.length]);
  const [sums] = callMany(
    'embedding_bag',
    ...[table, of(indices), of(offsets), false, 0, false, of(weights)],
    false,
  );
  return sums!;
}

/** Rows of unit length; a row of zeros stays one. */
export function unitLength(x: Tensor): Tensor {
  return x.div(call('linalg_vector_norm', x, 2, [-1], true).clamp(1e-12));
}

/**
 * An encoder without attention: a text is a weighted bag of pieces, mapped to the space of the encoder that it was
 * distilled from. Reads thousands of texts a second.
 */
export class StaticEncoder extends nn.Module implements TextEncoder {
  readonly width: number;
  readonly vocabulary: number;
  readonly positions = mostTokens;
  readonly pieces: Tensor;
  readonly rarity: Tensor;
  readonly columns: Tensor;
  readonly words: Tensor;
  readonly projection: Tensor;
  readonly shift: Tensor;
  readonly notes: StaticNotes;
  readonly #rarity: Float32Array;
  readonly #columns: Int32Array;

  /** Takes over the tensors. */
  constructor(parts: StaticParts, notes: StaticNotes) {
    super();
    this.notes = notes;
    this.pieces = parts.pieces.keep();
    this.rarity = parts.rarity.keep();
    this.columns = parts.columns.keep();
    this.words = parts.words.keep();
    this.projection = parts.projection.keep();
    this.shift = parts.shift.keep();
    this.width = this.shift.dim(0);
    this.vocabulary = this.pieces.dim(0);
    this.#rarity = this.rarity.toArray() as Float32Array;
    this.#columns = this.columns.toArray() as Int32Array;
  }

  /** A vector for each token: what a text of that token alone has, not of unit length. */
  hidden(ids: Tensor, _mask: Tensor): Tensor {
    const own = embedding(this.words, this.columns.indexSelect(0, ids.reshape(-1)).reshape(...ids.shape));
    const mapped = unitLength(embedding(this.pieces, ids)).matmul(this.projection);
    return own.add(mapped).add(this.shift);
  }

  vectors(texts: readonly Int32Array[]): Tensor {
    return noGrad(() =>
      scope(() => {
        const bags = pieceBags(texts, this.#rarity);
        const own = { ...bags, indices: bags.indices.map((piece) => this.#columns[piece]!) };
        const means = unitLength(bagSums(this.pieces, bags)); // [B, d]
        return unitLength(bagSums(this.words, own).add(means.matmul(this.projection)).add(this.shift));
      }),
    );
  }
}
