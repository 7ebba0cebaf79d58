import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { cacheFolder, cacheLimit, keepWithin, markUsed, reasonOf } from '@hidden-schema/base';
import type { Tokenizer } from '@hidden-schema/text';
import {
  callMany,
  openSafetensors,
  Tensor,
  withoutGrad,
  withWeights,
  writeSafetensors,
} from '@hidden-schema/torch';
import { maskOfLengths, type TextEncoder } from './text-encoder.ts';

// Shapes: V pieces of the vocabulary, D width of the teacher, d dimensions that are kept.

/** An encoder with the tokenizer it was trained with. */
export interface Teacher {
  encoder: TextEncoder;
  tokenizer: Tokenizer;
}

export interface DistilOptions {
  /** The folder of caches; HSN_CACHE or the user's unless given. */
  cache?: string;
  signal?: AbortSignal;
  onProgress?: (done: number, total: number) => void;
  onNote?: (text: string) => void;
}

const format = 1;
const name = 'pieces';
/** Principal components that are kept: more add little to what bags of pieces tell. */
const dimensions = 256;
const piecesAtOnce = 1024;

/**
 * A vector for each piece of an encoder's vocabulary: the piece alone through the encoder, then the principal components
 * of all (model2vec's recipe). Made once for an encoder and kept in the cache. [V, d] float32
 */
export async function distilledPieces(teacher: Teacher, options: DistilOptions = {}): Promise<Tensor> {
  const folder = path.join(options.cache ?? cacheFolder(), 'distilled');
  const file = path.join(folder, `${fingerprint(teacher)}.safetensors`);
  const known = stored(file, teacher.encoder, options);
  if (known) return known;
  const vectors = await pieceVectors(teacher, options);
  const pieces = withoutGrad(() => principalComponents(vectors).to('float16'));
  vectors.free();
  try {
    fs.mkdirSync(folder, { recursive: true });
    writeSafetensors(file, [[name, pieces]]);
    keepWithin(cacheLimit(), 'distilled', file);
  } catch (error) {
    options.onNote?.(`the distilled encoder was not kept for the next time: ${reasonOf(error)}`);
  }
  const whole = pieces.to('float32');
  pieces.free();
  return whole;
}

/** Of all weights and the vocabulary, and of what is made of them. */
function fingerprint({ encoder, tokenizer }: Teacher): string {
  const hash = createHash('sha256').update(`${format} ${dimensions} ${tokenizer.hash}`);
  for (const [weight, tensor] of encoder.namedTensors())
    hash.update(weight).update(tensor.toArray() as NodeJS.TypedArray);
  return hash.digest('hex');
}

function stored(file: string, { vocabulary }: TextEncoder, { onNote }: DistilOptions): Tensor | undefined {
  if (!fs.existsSync(file)) return undefined;
  try {
    const found = withWeights(openSafetensors(file), (weights) => weights.get(name));
    if (found.shape.length !== 2 || found.dim(0) !== vocabulary)
      throw new RangeError(`expected ${vocabulary} rows, got [${found.shape.join(', ')}]`);
    markUsed(file);
    return found.to('float32');
  } catch (error) {
    onNote?.(`${file} is damaged (${reasonOf(error)}): the encoder is distilled again`);
    return undefined;
  }
}

/** Each piece alone between the tokens that stand around every text. [V, D] */
async function pieceVectors({ encoder, tokenizer }: Teacher, options: DistilOptions): Promise<Tensor> {
  encoder.train(false);
  const around = (await tokenizer.encode('', { specials: true })).ids;
  const half = Math.ceil(around.length / 2);
  const [before, after] = [around.slice(0, half), around.slice(half)];
  const total = encoder.vocabulary;
  const all = new Float32Array(total * encoder.width);
  for (let first = 0; first < total; first += piecesAtOnce) {
    await new Promise((resolve) => setImmediate(resolve));
    options.signal?.throwIfAborted();
    const count = Math.min(piecesAtOnce, total - first);
    const texts = Array.from({ length: count }, (_, n) => Int32Array.of(...before, first + n, ...after));
    all.set(withoutGrad(() => meansOf(encoder, texts).toArray()) as Float32Array, first * encoder.width);
    options.onProgress?.(first + count, total);
  }
  return Tensor.fromArray(all, [total, encoder.width]);
}

/** Texts of one length as means of their states. */
function meansOf(encoder: TextEncoder, texts: readonly Int32Array[]): Tensor {
  const fast = encoder.vectors?.(texts);
  if (fast) return fast;
  const width = texts[0]!.length;
  const ids = Int32Array.from(texts.flatMap((text) => [...text]));
  const mask = maskOfLengths(new Array<number>(texts.length).fill(width), width);
  return encoder.hidden(Tensor.fromArray(ids, [texts.length, width]), mask).mean(1);
}

/** Rows less their mean, along the directions that they vary most in. [V, d] */
function principalComponents(x: Tensor): Tensor {
  const centred = x.sub(x.mean(0));
  const covariance = centred.transpose(0, 1).matmul(centred).to('float64');
  const [, directions] = callMany('linalg_eigh', covariance, 'L'); // ascending
  const kept = Math.min(dimensions, x.dim(1));
  return centred.matmul(directions!.narrow(1, x.dim(1) - kept, kept).to('float32'));
}
