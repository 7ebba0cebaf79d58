import { Random } from '@hidden-schema/base';
import type { TextCorpus } from '@hidden-schema/text';
import { callMany, packedProductsHere, Tensor, withoutGrad } from '@hidden-schema/torch';
import { distilledPieces } from '@hidden-schema/transformers/distil';
import {
  bagSums,
  keptInHalf,
  type PieceBags,
  pieceBags,
  StaticEncoder,
  unitLength,
} from '@hidden-schema/transformers/static-encoder';
import { teacherOf } from '../../config/language.ts';
import { type OpenedEncoder, rememberedVectors } from './text-vectors.ts';

// Shapes: n texts of the sample, V pieces of the vocabulary, d dimensions of a piece, P pieces of the sample, D width.

/** What a static encoder is fitted on: some texts as tokens with their teacher's vectors, and how rare pieces are. */
export interface StaticSample {
  texts: readonly Int32Array[];
  /** [n, D] */
  vectors: Tensor;
  /** [V] */
  rarity: Float32Array;
  /** Vectors of pieces, distilled from the teacher. [V, d] */
  pieces: Tensor;
}

/** Weight of the pieces' vectors beside the pieces themselves; ridge penalties of which the best is taken. */
const vectorWeight = 3;
const penalties = [0.1, 0.3, 1, 3];

/** Texts that are encoded by the teacher. */
const SAMPLE_TEXTS = 1000;

/** Rows of a sample, each as probable as every other, in rising order. */
export function sampleRows(rows: Int32Array, seed: number): Int32Array {
  if (rows.length <= SAMPLE_TEXTS) return rows;
  const all = new Random(seed, sampleStream).shuffle(Int32Array.from(rows));
  return all.slice(0, SAMPLE_TEXTS).sort();
}
const sampleStream = 71;

/** log(N / texts that have a piece) + 1, as if one more text had all of them; 0 for tokens that are no pieces. [V] */
export function rarityOf(
  texts: Iterable<ArrayLike<number>>,
  vocabulary: number,
  special: readonly number[],
): Float32Array {
  const uses = new Float64Array(vocabulary);
  let count = 0;
  for (const text of texts) {
    count++;
    for (const piece of new Set(Array.from(text))) uses[piece]!++;
  }
  const rarity = Float32Array.from(uses, (n) => Math.log((1 + count) / (1 + n)) + 1);
  for (const piece of special) rarity[piece] = 0;
  return rarity;
}

/**
 * The static encoder whose vectors are closest to the teacher's: ridge regression from a text's tf-idf and the mean of
 * its pieces' vectors, solved in the space of the sample. `cosine` is the mean over the sample of what the encoder would
 * give had it not seen that text (leave-one-out, in closed form).
 */
export function fitStatic(
  { texts, vectors, rarity, pieces }: StaticSample,
  teacher: string,
): { encoder: StaticEncoder; cosine: number } {
  return withoutGrad(() => {
    const bags = pieceBags(texts, rarity);
    const { own, columns, count } = ownColumns(bags, rarity.length);
    const kept = keptInHalf(pieces);
    const words = denseRows(own, texts.length, count); // [n, P + 1]
    const means = unitLength(bagSums(kept, bags)); // [n, d]
    const shift = vectors.mean(0);
    const kernel = words
      .matmul(words.transpose(0, 1))
      .add(means.matmul(means.transpose(0, 1)).mul(vectorWeight));
    const { alpha, cosine } = ridge(kernel, vectors, shift);
    const notes = { teacher, fitted: { texts: texts.length, cosine } };
    const parts = {
      pieces: kept,
      rarity: Tensor.fromArray(rarity, [rarity.length]),
      columns: Tensor.fromArray(columns, [columns.length]),
      words: keptInHalf(words.transpose(0, 1).matmul(alpha)),
      projection: means.transpose(0, 1).matmul(alpha).mul(vectorWeight),
      shift,
    };
    return { encoder: new StaticEncoder(parts, notes), cosine };
  });
}

/** Columns for the pieces of a sample, from 1 on: 0 is for all others. */
function ownColumns(
  bags: PieceBags,
  vocabulary: number,
): { own: PieceBags; columns: Int32Array; count: number } {
  const columns = new Int32Array(vocabulary);
  let count = 1;
  const indices = bags.indices.map((piece) => {
    if (columns[piece] === 0) columns[piece] = count++;
    return columns[piece]!;
  });
  return { own: { ...bags, indices }, columns, count };
}

/** Bags as rows. [n, columns] */
function denseRows({ indices, offsets, weights }: PieceBags, rows: number, columns: number): Tensor {
  const all = new Float32Array(rows * columns);
  for (let row = 0; row < rows; row++)
    for (let at = offsets[row]!; at < (offsets[row + 1] ?? indices.length); at++)
      all[row * columns + indices[at]!] = weights[at]!;
  return Tensor.fromArray(all, [rows, columns]);
}

/** α = (K + λ)⁻¹(Y − ȳ) with the λ of the least error on texts left out, each in turn. [n, D] */
function ridge(kernel: Tensor, vectors: Tensor, shift: Tensor): { alpha: Tensor; cosine: number } {
  const [values, basis] = callMany('linalg_eigh', kernel.to('float64'), 'L');
  const centred = vectors.sub(shift).to('float64');
  const turned = basis!.transpose(0, 1).matmul(centred); // [n, D]
  const solved = penalties.map((penalty) => {
    const inverse = values!.clamp(0).add(penalty).reciprocal(); // [n]
    const alpha = basis!.matmul(turned.mul(inverse.unsqueeze(1)));
    const leverage = basis!.mul(basis!).matmul(inverse.unsqueeze(1)); // [n, 1]
    const missed = alpha.div(leverage); // y − what the others say of it
    return { alpha, missed, error: missed.mul(missed).sum().item() };
  });
  const best = solved.reduce((least, each) => (each.error < least.error ? each : least));
  const guesses = unitLength(vectors.to('float64').sub(best.missed));
  const cosine = guesses
    .mul(unitLength(vectors.to('float64')))
    .sum(1)
    .mean()
    .item();
  return { alpha: best.alpha.to('float32'), cosine };
}

export interface FastOptions {
  name: string;
  seed: number;
  /** Tokens of a text that are read. */
  longest: number;
  cache?: string | undefined;
  signal?: AbortSignal | undefined;
  onNote?: ((text: string) => void) | undefined;
}

/** A static encoder for a corpus: distilled from a teacher, once, and fitted to the teacher's vectors of some texts. */
export async function fitFastEncoder(
  teacher: OpenedEncoder,
  { store, splits }: Pick<TextCorpus, 'store' | 'splits'>,
  options: FastOptions,
): Promise<StaticEncoder> {
  const { name, seed, longest, cache, signal, onNote } = options;
  for (const [, tensor] of teacher.encoder.namedTensors()) tensor.requireGrad(false);
  // A fit to a thousand vectors does not feel what bfloat16 rounds off.
  if (teacher.encoder.precision && packedProductsHere().bfloat16) teacher.encoder.precision = 'bfloat16';
  const given = { ...(cache ? { cache } : {}), ...(signal ? { signal } : {}), ...(onNote ? { onNote } : {}) };
  const pieces = await distilledPieces(teacher, given);
  const rows = sampleRows(splits.train, seed);
  const texts = Array.from(rows, (row) => store.example(row).text);
  const vectors = await rememberedVectors(texts, teacher, { longest, signal });
  const { vocabulary } = teacher.encoder;
  const special = Object.values(teacher.tokenizer.special).filter((id) => typeof id === 'number');
  const rarity = rarityOf(storedTokens(store, splits.train), vocabulary, special);
  try {
    const tokens = Array.from(storedTokens(store, rows));
    const { encoder, cosine } = fitStatic({ texts: tokens, vectors, rarity, pieces }, teacherOf(name));
    onNote?.(
      `encoder ${name}: a bag of word pieces in place of ${teacherOf(name)}, fitted to its vectors of ${texts.length} texts; mean cosine to them ${cosine.toFixed(2)} on texts left out`,
    );
    return encoder;
  } finally {
    pieces.free();
    vectors.free();
  }
}

/** The encoder's tokens of some texts, as many as it reads at once, one text after the other. */
function* storedTokens(store: TextCorpus['store'], rows: Iterable<number>): Generator<Int32Array> {
  for (const row of rows) yield store.ids('encoder', store.row(row));
}
