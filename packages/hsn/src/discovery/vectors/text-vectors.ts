import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { cacheFolder } from '@hidden-schema/base';
import { idsTensor, padded } from '@hidden-schema/text/text-batches';
import type { Tokenizer } from '@hidden-schema/text/tokenizer/tokenizer';
import { Tensor, withoutGrad } from '@hidden-schema/torch';
import { maskOfLengths, type TextEncoder, type TokenTable } from '@hidden-schema/transformers/text-encoder';
import { unitMeans } from '../../encoder/walk-queries.ts';
import { VectorCacheFiles } from './vector-cache-files.ts';
import type { TextKey } from './vector-file.ts';

// Shapes: N texts, D width of the encoder.

/** A pretrained encoder with the tokenizer it was trained with. */
export interface OpenedEncoder {
  encoder: TextEncoder;
  tokenizer: Tokenizer;
}

export interface TextVectorOptions {
  /** Tokens of a text that are read; the rest is cut. */
  longest: number;
  signal?: AbortSignal | undefined;
  onProgress?: ((done: number, total: number) => void) | undefined;
}

/** Texts tokenised at a time, and tokens read at a time, padding included. */
const tokenisedAtOnce = 256;
const tokensAtOnce = 4096;

/** Texts as unit means of a frozen encoder's states. [N, D] float32 */
export async function encodeTexts(
  texts: readonly string[],
  opened: OpenedEncoder,
  options: TextVectorOptions,
): Promise<Tensor> {
  const tokens = await encoderTokens(texts, opened, options);
  const { encoder } = opened;
  return Tensor.fromArray(await encodeRows(tokens, encoder, options), [texts.length, encoder.width]);
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
const meanVectors = (encoder: TextEncoder, texts: readonly Int32Array[]): Float32Array =>
  withoutGrad(() => unitVectors(encoder, texts).toArray()) as Float32Array;

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

// Shapes: N texts, D width of the encoder.

/** Texts whose vectors stay in memory; those of more are read again from the cache. */
const mostInMemory = 100_000;
/** Bytes of a text's key: two texts of one key are not to be expected in anyone's life. */
const keyBytes = 16;

/** What encodes tokens into unit vectors and has seen them before. */
export interface TextMemory {
  /** Of texts as the encoder's tokens, special ones included. [N] of [D] */
  vectors(texts: readonly Int32Array[]): Float32Array[];
}

const memories = new WeakMap<TextEncoder, Map<string, StoredMemory>>();

/** An encoder whose tokens have rows of their own in one of its tensors. */
type PretrainedText = TextEncoder & { readonly tokenTable: TokenTable };

const isPretrained = (encoder: TextEncoder): encoder is PretrainedText => encoder.tokenTable !== undefined;

/** What the cache has of an encoder's texts; nothing for encoders that are none of the pretrained ones. */
export function storedMemory(encoder: TextEncoder, cache: string = cacheFolder()): StoredMemory | undefined {
  if (!isPretrained(encoder)) return undefined;
  const folders = memories.get(encoder) ?? new Map<string, StoredMemory>();
  memories.set(encoder, folders);
  const name = `${cache} ${encoder.precision}`;
  const known = folders.get(name) ?? new StoredMemory(encoder, cache);
  folders.set(name, known);
  return known;
}

/** The memory of an encoder, one for as long as it lives; on disk where it is a pretrained one that stays as it is. */
export function cacheFor(encoder: TextEncoder, { frozen }: { frozen: boolean }): TextMemory {
  const known = frozen ? storedMemory(encoder) : undefined;
  return known ?? { vectors: (texts) => encodeTokens(encoder, texts) };
}

/** Texts as unit means of a frozen encoder's states, each text encoded once in its life. [N, D] float32 */
export async function rememberedVectors(
  texts: readonly string[],
  opened: OpenedEncoder,
  options: TextVectorOptions,
): Promise<Tensor> {
  const tokens = await encoderTokens(texts, opened, options);
  return vectorRows(opened.encoder, tokens);
}

/** Vectors of texts as the encoder's tokens, from its memory. [N, D] float32 */
export function vectorRows(encoder: TextEncoder, texts: readonly Int32Array[], frozen = true): Tensor {
  const { width } = encoder;
  const all = new Float32Array(texts.length * width);
  for (const [n, vector] of cacheFor(encoder, { frozen }).vectors(texts).entries())
    all.set(vector, n * width);
  return Tensor.fromArray(all, [texts.length, width]);
}

/**
 * Unit vectors by text, each text encoded once in its life: a text's key is made of the encoder's weights as far as they
 * are read for it, those of its own tokens and all that are not a token's. So texts that have no token of a relation are
 * the same to an encoder with relations and to one without.
 */
export class StoredMemory implements TextMemory {
  /** A name for the encoder's weights. */
  readonly encoder: string;
  readonly #encoder: PretrainedText;
  readonly #known = new Map<TextKey, Float32Array>();
  readonly #words: { table: Buffer; rowBytes: number; kinds: number; hashes: Map<number, Buffer> };
  readonly #files: VectorCacheFiles;

  constructor(encoder: PretrainedText, cache: string) {
    this.#encoder = encoder;
    const weights = [...encoder.namedTensors()];
    const { name: tokenTable, kinds = 1 } = encoder.tokenTable;
    const table = weights.find(([name]) => name === tokenTable)![1];
    const { buffer, byteOffset, byteLength } = table.toArray() as NodeJS.TypedArray;
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    this.#words = { table: bytes, rowBytes: byteLength / table.dim(0), kinds, hashes: new Map() };
    const hash = createHash('sha256');
    const { precision = 'float32' } = encoder;
    if (precision !== 'float32') hash.update(precision);
    for (const [name, tensor] of weights)
      if (name !== tokenTable) hash.update(name).update(tensor.toArray() as NodeJS.TypedArray);
    this.encoder = hash.digest('hex').slice(0, 16);
    this.#files = new VectorCacheFiles(this.encoder, encoder.width, cache);
  }

  /** A text's vector, where the cache has it; it is not kept in memory. */
  find(key: TextKey): Float32Array | undefined {
    return this.#known.get(key) ?? this.#files.find(key);
  }

  vectors(texts: readonly Int32Array[]): Float32Array[] {
    const keys = texts.map((ids) => this.keyOf(ids));
    const fresh = new Map<TextKey, Int32Array>();
    for (const [n, key] of keys.entries()) {
      if (this.#known.has(key)) continue;
      const stored = this.#files.find(key);
      if (stored) this.#known.set(key, stored.slice());
      else fresh.set(key, texts[n]!);
    }
    const made = [...fresh.keys()];
    for (let first = 0; first < made.length; first += VectorCacheFiles.most) {
      // Kept part by part: what is stopped on the way has not encoded for nothing.
      const some = made.slice(first, first + VectorCacheFiles.most);
      const vectors = encodeTokens(
        this.#encoder,
        some.map((key) => fresh.get(key)!),
      );
      for (const [n, key] of some.entries()) this.#known.set(key, vectors[n]!);
      this.#files.keep(some, vectors);
    }
    const found = keys.map((key) => this.#known.get(key)!);
    if (this.#known.size > mostInMemory) this.#known.clear();
    return found;
  }

  keyOf(ids: Int32Array): TextKey {
    const hash = createHash('sha256');
    for (const id of ids) hash.update(this.#wordHash(id));
    return hash.digest().subarray(0, keyBytes).toString('hex');
  }

  #wordHash(id: number): Buffer {
    const { table, rowBytes, kinds, hashes } = this.#words;
    const known = hashes.get(id);
    if (known) return known;
    const hash = createHash('sha256').update(table.subarray(id * rowBytes, (id + 1) * rowBytes));
    if (kinds > 1) hash.update(`${id % kinds}`);
    const made = hash.digest();
    hashes.set(id, made);
    return made;
  }
}

/** [N] of [D] */
function encodeTokens(encoder: TextEncoder, texts: readonly Int32Array[]): Float32Array[] {
  encoder.train(false);
  const out = new Array<Float32Array>(texts.length);
  for (const rows of batchesOfLikeLength(texts))
    encodeBatch(encoder, texts, rows, (row, vector) => {
      out[row] = vector.slice();
    });
  return out;
}
