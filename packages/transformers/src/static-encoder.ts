import { UserError } from '@hidden-schema/base';
import { loadTokenizer, specialConfig, type Tokenizer } from '@hidden-schema/text/tokenizer/tokenizer';
import {
  call,
  callMany,
  type DType,
  embedding,
  nn,
  openWeights,
  scope,
  Tensor,
  withoutGrad,
  withWeights,
} from '@hidden-schema/torch';
import { z } from 'zod';
import { folderConfig, writeModelFolder } from './model-folder.ts';
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
    for (const part of Object.values(parts) as Tensor[]) part.keep();
    ({ pieces: this.pieces, rarity: this.rarity, columns: this.columns } = parts);
    ({ words: this.words, projection: this.projection, shift: this.shift } = parts);
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
    return withoutGrad(() => {
      const bags = pieceBags(texts, this.#rarity);
      const own = { ...bags, indices: bags.indices.map((piece) => this.#columns[piece]!) };
      const means = unitLength(bagSums(this.pieces, bags)); // [B, d]
      return unitLength(bagSums(this.words, own).add(means.matmul(this.projection)).add(this.shift));
    });
  }

  /** Makes a folder with it and its tokenizer; tables of pieces are kept in float16. */
  writeTo(folder: string, tokenizer: Tokenizer): void {
    const config = {
      model_type: 'static',
      hidden_size: this.width,
      piece_size: this.pieces.dim(1),
      vocab_size: this.vocabulary,
      ...this.notes,
    };
    const { json, special } = tokenizer;
    scope(() => {
      const tensors = [...this.namedTensors()].map(
        ([name, tensor]) => [name, halved.has(name) ? tensor.to('float16') : tensor] as const,
      );
      const parts = { config, tensors, tokenizer: json };
      writeModelFolder(folder, { ...parts, special: specialConfig(special, tokenizer) });
    });
  }
}

/** config.json of a static encoder. */
const staticConfigSchema = z.looseObject({
  model_type: z.literal('static'),
  /** D, and d of the pieces' vectors. */
  hidden_size: z.int().positive(),
  piece_size: z.int().positive(),
  vocab_size: z.int().positive(),
  teacher: z.string(),
  fitted: z.strictObject({ texts: z.int().nonnegative(), cosine: z.number() }),
});

const halved = new Set(['pieces', 'words']);

/** A table as it is after a folder has kept it, so that a run reads texts as its training did. */
export const keptInHalf = (table: Tensor): Tensor => table.to('float16').to('float32');

/** Opens a folder that a static encoder was written to. */
export function openStaticEncoder(folder: string): { encoder: StaticEncoder; tokenizer: Tokenizer } {
  const config = folderConfig(staticConfigSchema, folder);
  const tokenizer = loadTokenizer(folder);
  return withWeights(openWeights(folder), (weights) => {
    const { hidden_size: width, piece_size: size, vocab_size: pieces, teacher, fitted } = config;
    const get = (name: string, shape: readonly (number | undefined)[], dtype: DType = 'float32'): Tensor =>
      checkedTensor(folder, name, { found: weights.get(name), shape, dtype });
    if (tokenizer.vocabulary > pieces)
      throw new UserError(
        `${folder}: the tokenizer has ${tokenizer.vocabulary} tokens, the weights ${pieces}`,
      );
    const parts: StaticParts = {
      pieces: get('pieces', [pieces, size]),
      rarity: get('rarity', [pieces]),
      columns: get('columns', [pieces], 'int32'),
      words: get('words', [undefined, width]),
      projection: get('projection', [size, width]),
      shift: get('shift', [width]),
    };
    checkColumns(folder, parts);
    return { encoder: new StaticEncoder(parts, { teacher, fitted }), tokenizer };
  });
}

/** A tensor of the stated shape, as float32 where it was kept in 16 bits. */
function checkedTensor(
  folder: string,
  name: string,
  { found, shape, dtype }: { found: Tensor; shape: readonly (number | undefined)[]; dtype: DType },
): Tensor {
  const fits =
    found.shape.length === shape.length && shape.every((n, at) => n === undefined || n === found.dim(at));
  const kind = found.dtype === 'float16' ? 'float32' : found.dtype;
  if (!fits || kind !== dtype)
    throw new UserError(
      `${folder}: ${name} is ${found.dtype} [${found.shape.join(', ')}], expected ${dtype} [${shape.map((n) => n ?? 'any').join(', ')}]; take a folder that was written whole`,
    );
  return found.dtype === 'float16' ? found.to('float32') : found;
}

/** Refuses rows that `words` does not have, before libtorch reads there. */
function checkColumns(folder: string, { columns, words }: StaticParts): void {
  const most = words.dim(0);
  const outside = (columns.toArray() as Int32Array).find((row) => row < 0 || row >= most);
  if (outside !== undefined)
    throw new UserError(
      `${folder}: columns names row ${outside} of ${most}; take a folder that was written whole`,
    );
}
