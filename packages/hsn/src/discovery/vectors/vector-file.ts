import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { cacheFolder, readFully, reasonOf, UserError } from '@hidden-schema/base';
import { cat, openSafetensors, scope, Tensor, writeSafetensors } from '@hidden-schema/torch';

// Shapes: N texts of a file, D width of the encoder.

/** A text and the encoder that reads it, as hexadecimal digits. */
export type TextKey = string;

/** The texts of a file, by which each is found again whatever file it stands in. */
export interface KeyedTexts {
  /** A name for the encoder's weights. */
  encoder: string;
  /** N */
  keys: readonly TextKey[];
}

const tensorName = 'vectors';

/** The folder of stored vectors within that of caches. */
export const vectorFolder = (cache: string = cacheFolder()): string => path.join(cache, 'vectors');

/** Writes vectors [N, D] float32 with a checksum, and with the keys of their texts where they have some. */
export function writeVectorFile(file: string, vectors: Tensor, texts?: KeyedTexts): void {
  const numbers = vectors.toArray() as Float32Array;
  const named = texts ? { encoder: texts.encoder, keys: texts.keys.join(' ') } : undefined;
  writeSafetensors(file, [[tensorName, vectors]], { sha256: checksum(numbers, named?.keys), ...named });
}

/** The keys of a file's texts; none where it has none, is damaged or is another encoder's. */
export function readKeys(file: string, encoder: string): TextKey[] | undefined {
  try {
    const weights = openSafetensors(file);
    weights.close();
    const { metadata } = weights;
    if ((metadata.get('encoder') ?? encoder) !== encoder) return undefined;
    return metadata.get('keys')?.split(' ');
  } catch {
    return undefined;
  }
}

/** Row-major [N, D]. Throws where numbers are not those that were written, or not N rows of D. */
export function readVectorFile(file: string, width: number, count?: number): Float32Array {
  const weights = openSafetensors(file);
  try {
    const { metadata } = weights;
    const keys = metadata.get('keys');
    const rows = count ?? keys?.split(' ').length;
    const { dtype, shape } = weights.info(tensorName);
    if (dtype !== 'float32' || shape.join() !== `${rows},${width}`)
      throw new UserError(`expected ${rows} rows of ${width} float32, got ${dtype} [${shape.join(', ')}]`);
    const vectors = weights.get(tensorName);
    const numbers = vectors.toArray() as Float32Array;
    vectors.free();
    // Files of 0.3 may have keys and a checksum of their numbers alone.
    const known = [checksum(numbers, keys), checksum(numbers)];
    if (!known.includes(metadata.get('sha256') ?? ''))
      throw new UserError('its numbers are not those that were written');
    return numbers;
  } finally {
    weights.close();
  }
}

const checksum = (numbers: Float32Array, keys = ''): string =>
  createHash('sha256').update(keys).update(numbers).digest('hex');

// Shapes: N texts, D width of the encoder.

/** Vectors of texts, by row, wherever they lie. */
export interface VectorRows {
  /** N */
  readonly count: number;
  /** D */
  readonly width: number;
  /** [B, D] */
  rows(rows: ArrayLike<number>): Tensor;
  free(): void;
}

/** Vectors of texts that follow each other: in memory, or in a file from a place on. */
export type RowRange = { readonly first: number; readonly end: number } & (
  | { readonly vectors: Tensor }
  | { readonly file: string; readonly place: number }
);

/** Files that are held open: what is removed from the cache meanwhile can still be read. */
const mostOpen = 512;

/** Files of the cache that are open; those used last stay so. */
export class OpenFiles {
  readonly #open = new Map<string, number>();

  descriptor(file: string): number {
    const known = this.#open.get(file);
    if (known !== undefined) {
      this.#open.delete(file);
      this.#open.set(file, known);
      return known;
    }
    const oldest = this.#open.size >= mostOpen ? this.#open.keys().next().value : undefined;
    if (oldest !== undefined) {
      fs.closeSync(this.#open.get(oldest)!);
      this.#open.delete(oldest);
    }
    const descriptor = opened(file);
    this.#open.set(file, descriptor);
    return descriptor;
  }

  close(): void {
    for (const descriptor of this.#open.values()) fs.closeSync(descriptor);
    this.#open.clear();
  }
}

/** Vectors in files of the cache: rows are read when they are asked for, so that memory does not grow with texts. */
export class StoredRows implements VectorRows {
  readonly width: number;
  readonly #stretches: readonly RowRange[];
  readonly #files: OpenFiles;

  constructor(stretches: readonly RowRange[], width: number, files: OpenFiles) {
    this.#stretches = stretches;
    this.width = width;
    this.#files = files;
  }

  get count(): number {
    return this.#stretches.at(-1)?.end ?? 0;
  }

  rows(rows: ArrayLike<number>): Tensor {
    const parts: Tensor[] = [];
    return scope(() => {
      for (let at = 0; at < rows.length; ) {
        const stretch = this.#stretchOf(rows[at]!);
        let end = at + 1;
        while (end < rows.length && rows[end] === rows[end - 1]! + 1 && rows[end]! < stretch.end) end++;
        parts.push(this.#read(stretch, rows[at]!, end - at));
        at = end;
      }
      return parts.length === 1 ? parts[0]!.clone() : cat(parts, 0);
    });
  }

  #stretchOf(row: number): RowRange {
    let [low, high] = [0, this.#stretches.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (row < this.#stretches[middle]!.end) high = middle;
      else low = middle + 1;
    }
    return this.#stretches[low]!;
  }

  #read(stretch: RowRange, row: number, count: number): Tensor {
    const skipped = row - stretch.first;
    if ('vectors' in stretch) return stretch.vectors.narrow(0, skipped, count);
    const numbers = new Float32Array(count * this.width);
    const bytes = new Uint8Array(numbers.buffer);
    const from = stretch.place + 4 * this.width * skipped;
    if (readFully(this.#files.descriptor(stretch.file), bytes, from) < bytes.length)
      throw new Error(`${stretch.file} ends before its vectors do`);
    return Tensor.fromArray(numbers, [count, this.width]);
  }

  free(): void {
    this.#files.close();
    for (const stretch of this.#stretches) if ('vectors' in stretch) stretch.vectors.free();
  }
}

function opened(file: string): number {
  try {
    return fs.openSync(file, 'r');
  } catch (error) {
    throw new UserError(
      `vectors were removed from the cache while they were needed (${reasonOf(error)}); raise HSN_CACHE_LIMIT and start again`,
    );
  }
}
