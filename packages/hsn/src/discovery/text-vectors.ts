import { setImmediate } from 'node:timers/promises';
import { idsTensor, padded } from '@hidden-schema/text/padding';
import type { Tokenizer } from '@hidden-schema/text/tokenizer/tokenizer';
import { noGrad, scope, Tensor } from '@hidden-schema/torch';
import { maskOfLengths, type TextEncoder } from '@hidden-schema/transformers/text-encoder';
import { unitMeans } from '../encoder/walk-queries.ts';

// Shapes: N texts, D width of the encoder.

/** A pretrained encoder with the tokenizer it was trained with. */
export interface OpenedEncoder {
  encoder: TextEncoder;
  tokenizer: Tokenizer;
}

export interface TextVectorOptions {
  /** Tokens of a text that are read; the rest is cut. */
  longest: number;
  signal?: AbortSignal;
  onProgress?: (done: number, total: number) => void;
}

/** Texts tokenised at a time, and tokens read at a time, padding included. */
const tokenisedAtOnce = 256;
const tokensAtOnce = 4096;

/** Texts as unit means of a frozen encoder's states. [N, D] float32 */
export async function encodeTexts(
  texts: readonly string[],
  { encoder, tokenizer }: OpenedEncoder,
  { longest, signal, onProgress }: TextVectorOptions,
): Promise<Tensor> {
  const tokens = await encoderTokens(
    texts,
    { encoder, tokenizer },
    { longest, ...(signal ? { signal } : {}) },
  );
  const vectors = await encodeRows(tokens, encoder, {
    ...(signal ? { signal } : {}),
    ...(onProgress ? { onProgress } : {}),
  });
  return Tensor.fromArray(vectors, [texts.length, encoder.width]);
}

/** Texts as the encoder's tokens to unit vectors, with pauses for what else the process does. Row-major [N, D]. */
export async function encodeRows(
  tokens: readonly Int32Array[],
  encoder: TextEncoder,
  { signal, onProgress }: Pick<TextVectorOptions, 'signal' | 'onProgress'>,
): Promise<Float32Array> {
  encoder.train(false);
  const vectors = new Float32Array(tokens.length * encoder.width);
  let done = 0;
  for (const rows of batchesOfLikeLength(tokens)) {
    await setImmediate();
    signal?.throwIfAborted();
    encodeBatch(encoder, tokens, rows, (row, vector) => vectors.set(vector, row * encoder.width));
    done += rows.length;
    onProgress?.(done, tokens.length);
  }
  return vectors;
}

/** The same at once; `each` gets every text's number and vector, which is overwritten afterwards. */
export function encodeLikeLengths(
  encoder: TextEncoder,
  tokens: readonly Int32Array[],
  each: EachVector,
): void {
  encoder.train(false);
  for (const rows of batchesOfLikeLength(tokens)) encodeBatch(encoder, tokens, rows, each);
}

type EachVector = (row: number, vector: Float32Array) => void;

function encodeBatch(
  encoder: TextEncoder,
  tokens: readonly Int32Array[],
  rows: readonly number[],
  each: EachVector,
): void {
  const { width } = encoder;
  const means = meanVectors(
    encoder,
    rows.map((row) => tokens[row]!),
  );
  for (const [at, row] of rows.entries()) each(row, means.subarray(at * width, (at + 1) * width));
}

/** The encoder's tokens of each text, as many as it reads. */
export async function encoderTokens(
  texts: readonly string[],
  { encoder, tokenizer }: OpenedEncoder,
  { longest: asked, signal }: Pick<TextVectorOptions, 'longest' | 'signal'>,
): Promise<Int32Array[]> {
  const longest = Math.min(asked, encoder.positions);
  const tokens: Int32Array[] = [];
  for (let first = 0; first < texts.length; first += tokenisedAtOnce) {
    signal?.throwIfAborted();
    const some = texts.slice(first, first + tokenisedAtOnce);
    const found = await tokenizer.encodeBatch(some, { literal: true, longest });
    for (const { ids } of found) tokens.push(ids);
  }
  return tokens;
}

/** Unit means of the encoder's states for texts of like length. Row-major [B, D]. */
function meanVectors(encoder: TextEncoder, texts: readonly Int32Array[]): Float32Array {
  return noGrad(() => scope(() => unitVectors(encoder, texts).toArray())) as Float32Array;
}

/** The same as a tensor. [B, D] */
export function unitVectors(encoder: TextEncoder, texts: readonly Int32Array[]): Tensor {
  const fast = encoder.vectors?.(texts);
  if (fast) return fast;
  // What pads a text is masked, whatever it is.
  const ids = padded(texts, { pad: 0 });
  const mask = maskOfLengths(ids.lengths, ids.width);
  return unitMeans(encoder.hidden(idsTensor(ids), mask), mask);
}

/** Rows in order of length, so that little is padded. */
function* batchesOfLikeLength(tokens: readonly Int32Array[]): Generator<number[]> {
  const order = Array.from(tokens.keys()).sort((a, b) => tokens[b]!.length - tokens[a]!.length || a - b);
  for (let first = 0; first < order.length; ) {
    const count = Math.max(1, Math.floor(tokensAtOnce / tokens[order[first]!]!.length));
    yield order.slice(first, first + count);
    first += count;
  }
}
