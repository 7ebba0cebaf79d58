import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { cacheLimit, keepWithin, markUsed } from '@hidden-schema/base';
import { scope, Tensor } from '@hidden-schema/torch';
import { readKeys, readVectorFile, type TextKey, vectorFolder, writeVectorFile } from './vector-file.ts';

/** Files that stay in memory: those of 130 000 texts, which are asked for in any order. */
const filesInMemory = 64;

/** Texts of a file with their vectors. */
interface Written {
  file: string;
  keys: TextKey[];
  vectors: Float32Array[];
}

/**
 * Vectors by text in the cache, in files that any process may read while others write: each process writes under names of
 * its own. A file that is damaged or gone is as if it had never been.
 */
export class VectorCacheFiles {
  /** Texts of a file: what is stopped loses no more than these. */
  static readonly most = 2048;
  readonly #encoder: string;
  readonly #width: number;
  readonly #folder: string;
  readonly #limit = cacheLimit();
  /** Where each text's vector lies, once a text is looked for: of a million texts these are hundreds of megabytes. */
  #places: Map<TextKey, { file: string; row: number }> | undefined;
  readonly #read = new Map<string, Float32Array | undefined>();
  /** Files of other processes that are not full: what is written first takes their texts over. */
  readonly #parts = new Map<string, readonly TextKey[]>();
  #own: Written;

  /** `encoder` is a name for its weights, of 16 hexadecimal digits. */
  constructor(encoder: string, width: number, cache?: string) {
    this.#encoder = encoder;
    this.#width = width;
    this.#folder = vectorFolder(cache);
    this.#own = this.#fresh();
  }

  /** A part of what its file holds: a copy is to be kept, or the file stays in memory with it. */
  find(key: TextKey): Float32Array | undefined {
    this.#places ??= this.#looked();
    const place = this.#places.get(key);
    if (!place) return undefined;
    const { file, row } = place;
    const vector = this.#vectorsIn(file)?.subarray(row * this.#width, (row + 1) * this.#width);
    return vector?.length === this.#width ? vector : undefined;
  }

  /** The texts of all files that are there. */
  #looked(): Map<TextKey, { file: string; row: number }> {
    const places = new Map<TextKey, { file: string; row: number }>();
    for (const file of this.#there()) {
      const keys = readKeys(file, this.#encoder) ?? [];
      for (const [row, key] of keys.entries()) places.set(key, { file, row });
      const own = path.basename(file).startsWith('texts-');
      if (own && keys.length > 0 && keys.length < VectorCacheFiles.most) this.#parts.set(file, keys);
    }
    return places;
  }

  /** Some files stay in memory; texts that were written together are asked for together. */
  #vectorsIn(file: string): Float32Array | undefined {
    const known = this.#read.has(file) ? this.#read.get(file) : vectorsIn(file, this.#width);
    this.#read.delete(file);
    this.#read.set(file, known);
    const [oldest] = this.#read.keys();
    if (this.#read.size > filesInMemory) this.#read.delete(oldest!);
    return known;
  }

  /** Keeps vectors for the next process. A cache that is full or may only be read keeps none, which costs time alone. */
  keep(keys: readonly TextKey[], vectors: readonly Float32Array[]): void {
    try {
      fs.mkdirSync(this.#folder, { recursive: true });
      this.#places ??= this.#looked();
      const taken = this.#takeOver();
      for (const [n, key] of keys.entries()) this.#add(key, vectors[n]!);
      this.#write();
      for (const file of taken) fs.rmSync(file, { force: true });
    } catch {
      this.#own = this.#fresh();
    }
  }

  #fresh(): Written {
    const name = `texts-${this.#encoder}-${randomBytes(8).toString('hex')}.safetensors`;
    return { file: path.join(this.#folder, name), keys: [], vectors: [] };
  }

  #there(): string[] {
    if (!fs.existsSync(this.#folder)) return [];
    const own = new RegExp(`^(?:texts-${this.#encoder}-[0-9a-f]{16}|[0-9a-f]{64})\\.safetensors$`);
    return fs
      .readdirSync(this.#folder)
      .filter((name) => own.test(name))
      .map((name) => path.join(this.#folder, name));
  }

  /** Takes in texts of files that are not full, so that many small runs leave one file; returns those files. */
  #takeOver(): string[] {
    const files = [...this.#parts];
    this.#parts.clear();
    for (const [, keys] of files)
      for (const key of keys) {
        const vector = this.find(key);
        if (vector) this.#add(key, vector);
      }
    return files.map(([file]) => file);
  }

  #add(key: TextKey, vector: Float32Array): void {
    if (this.#own.keys.length === VectorCacheFiles.most) {
      this.#write();
      this.#own = this.#fresh();
    }
    this.#own.keys.push(key);
    this.#own.vectors.push(vector);
  }

  #write(): void {
    const { file, keys, vectors } = this.#own;
    const flat = new Float32Array(keys.length * this.#width);
    for (const [n, vector] of vectors.entries()) flat.set(vector, n * this.#width);
    scope(() => {
      const tensor = Tensor.fromArray(flat, [keys.length, this.#width]);
      writeVectorFile(file, tensor, { encoder: this.#encoder, keys });
    });
    keepWithin(this.#limit, 'vectors', file);
  }
}

/** Row-major [N, D]; nothing where the file is gone or damaged. */
function vectorsIn(file: string, width: number): Float32Array | undefined {
  try {
    const vectors = readVectorFile(file, width);
    markUsed(file);
    return vectors;
  } catch {
    return undefined;
  }
}
