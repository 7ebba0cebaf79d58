import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { cacheFolder, cacheLimit, keepWithin, markUsed, reasonOf, UserError } from '@hidden-schema/base';
import { openSafetensors, Tensor, writeSafetensors } from '@hidden-schema/torch';
import { encodeTexts, type OpenedEncoder, type TextVectorOptions } from './text-vectors.ts';

// Shapes: N texts, D width of the encoder.

export interface StoredVectorOptions extends TextVectorOptions {
  /** The folder of caches; HSN_CACHE or the user's unless given. */
  cache?: string;
  /** Texts of each part of a corpus; no stored file has texts of two. All are one part unless given. */
  parts?: readonly number[];
  /** Hears where vectors came from, and what went wrong with the store. */
  onNote?: (text: string) => void;
}

/** The folder of stored vectors within that of caches. */
export const vectorFolder = (cache: string = cacheFolder()): string => path.join(cache, 'vectors');

const format = 2;
const name = 'vectors';
/** Texts of a file: what is stopped loses no more than these, and a corpus that grew encodes only its end. */
const textsOfFile = 2048;

/**
 * Texts as vectors, encoded once: kept as safetensors files in the cache, each named by its texts, the encoder's weights
 * and tokens, and how much of a text is read. A file that is damaged is made again; the files take no more than
 * HSN_CACHE_LIMIT. [N, D] float32
 */
export async function textVectors(
  texts: readonly string[],
  opened: OpenedEncoder,
  options: StoredVectorOptions,
): Promise<Tensor> {
  const { onNote, onProgress } = options;
  const store = new VectorFiles(opened, options);
  const width = opened.encoder.width;
  const all = new Float32Array(texts.length * width);
  let stored = 0;
  for (const [first, end] of stretches(options.parts ?? [texts.length])) {
    const some = texts.slice(first, end);
    const progress = (done: number) => onProgress?.(first + done, texts.length);
    const found = store.read(some);
    if (found) stored += some.length;
    const vectors = found ?? (await store.make(some, progress));
    all.set(vectors.toArray() as Float32Array, first * width);
    vectors.free();
    if (!found) progress(some.length);
  }
  if (stored > 0) onNote?.(`vectors of ${stored} texts were in the cache`);
  return Tensor.fromArray(all, [texts.length, width]);
}

/** First and end of the texts of each file. */
function* stretches(parts: readonly number[]): Generator<[first: number, end: number]> {
  let start = 0;
  for (const count of parts) {
    for (let first = start; first < start + count; first += textsOfFile)
      yield [first, Math.min(first + textsOfFile, start + count)];
    start += count;
  }
}

class VectorFiles {
  readonly #opened: OpenedEncoder;
  readonly #options: StoredVectorOptions;
  readonly #folder: string;
  readonly #encoder: string;
  readonly #limit = cacheLimit();

  constructor(opened: OpenedEncoder, options: StoredVectorOptions) {
    this.#opened = opened;
    this.#options = options;
    this.#folder = vectorFolder(options.cache);
    this.#encoder = fingerprintOf(opened);
  }

  #file(texts: readonly string[]): string {
    const key = { format, encoder: this.#encoder, longest: this.#options.longest };
    const hash = createHash('sha256').update(JSON.stringify(key));
    // With lengths between, so that no two lists of texts run together to the same bytes.
    for (const text of texts) hash.update(`\n${text.length} `).update(text);
    return path.join(this.#folder, `${hash.digest('hex')}.safetensors`);
  }

  read(texts: readonly string[]): Tensor | undefined {
    const file = this.#file(texts);
    if (!fs.existsSync(file)) return undefined;
    try {
      const vectors = readVectors(file, texts.length, this.#opened.encoder.width);
      markUsed(file);
      return vectors;
    } catch (error) {
      this.#options.onNote?.(`${file} is damaged (${reasonOf(error)}): its texts are encoded again`);
      return undefined;
    }
  }

  async make(texts: readonly string[], onProgress: (done: number) => void): Promise<Tensor> {
    const { onNote } = this.#options;
    const vectors = await encodeTexts(texts, this.#opened, { ...this.#options, onProgress });
    try {
      fs.mkdirSync(this.#folder, { recursive: true });
      const file = this.#file(texts);
      writeSafetensors(file, [[name, vectors]], { sha256: sumOf(vectors) });
      keepWithin(this.#limit, 'vectors', file);
    } catch (error) {
      onNote?.(`vectors were not kept for the next time: ${reasonOf(error)}`);
    }
    return vectors;
  }
}

/** Of all weights and the vocabulary: a folder whose model was replaced has other vectors under the same name. */
function fingerprintOf({ encoder, tokenizer }: OpenedEncoder): string {
  const hash = createHash('sha256').update(tokenizer.hash);
  for (const [weight, tensor] of encoder.namedTensors())
    hash.update(weight).update(tensor.toArray() as NodeJS.TypedArray);
  return hash.digest('hex');
}

function sumOf(vectors: Tensor): string {
  return createHash('sha256')
    .update(vectors.toArray() as Float32Array)
    .digest('hex');
}

function readVectors(file: string, texts: number, width: number): Tensor {
  const weights = openSafetensors(file);
  try {
    const found = weights.get(name);
    const { dtype, shape } = found;
    if (dtype !== 'float32' || shape.length !== 2 || shape[0] !== texts || shape[1] !== width)
      throw new UserError(`expected ${texts} rows of ${width} float32, got ${dtype} [${shape.join(', ')}]`);
    if (weights.metadata.get('sha256') !== sumOf(found))
      throw new UserError('its numbers are not those that were written');
    return found;
  } finally {
    weights.close();
  }
}
