import { createHash } from 'node:crypto';
import { cacheFolder } from '@hidden-schema/base';
import { Tensor } from '@hidden-schema/torch';
import { BertEncoder } from '@hidden-schema/transformers/bert';
import type { TextEncoder } from '@hidden-schema/transformers/text-encoder';
import {
  encodeLikeLengths,
  encoderTokens,
  type OpenedEncoder,
  type TextVectorOptions,
} from './text-vectors.ts';
import { type TextKey, VectorCacheFiles } from './vector-cache-files.ts';

// Shapes: N texts, D width of the encoder.

const wordTable = 'embeddings.word_embeddings.weight';
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

/** What the cache has of an encoder's texts; nothing for encoders that are none of the pretrained ones. */
export function storedMemory(encoder: TextEncoder, cache: string = cacheFolder()): StoredMemory | undefined {
  if (!(encoder instanceof BertEncoder)) return undefined;
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
  readonly #encoder: BertEncoder;
  readonly #known = new Map<TextKey, Float32Array>();
  readonly #words: { table: Float32Array; hashes: Map<number, Buffer> };
  readonly #files: VectorCacheFiles;

  constructor(encoder: BertEncoder, cache: string) {
    this.#encoder = encoder;
    const weights = [...encoder.namedTensors()];
    const table = weights.find(([name]) => name === wordTable)![1];
    this.#words = { table: table.toArray() as Float32Array, hashes: new Map() };
    const hash = createHash('sha256');
    if (encoder.precision !== 'float32') hash.update(encoder.precision);
    for (const [name, tensor] of weights)
      if (name !== wordTable) hash.update(name).update(tensor.toArray() as NodeJS.TypedArray);
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
      if (stored) this.#known.set(key, stored);
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
    const { table, hashes } = this.#words;
    const known = hashes.get(id);
    if (known) return known;
    const { width } = this.#encoder;
    const made = createHash('sha256')
      .update(table.subarray(id * width, (id + 1) * width))
      .digest();
    hashes.set(id, made);
    return made;
  }
}

/** [N] of [D] */
function encodeTokens(encoder: TextEncoder, texts: readonly Int32Array[]): Float32Array[] {
  const out = new Array<Float32Array>(texts.length);
  encodeLikeLengths(encoder, texts, (row, vector) => {
    out[row] = vector.slice();
  });
  return out;
}
