import fs from 'node:fs';
import { reasonOf, UserError } from '@hidden-schema/base';
import { cat, scope, Tensor } from '@hidden-schema/torch';

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
    for (let done = 0; done < bytes.length; ) {
      const size = fs.readSync(
        this.#files.descriptor(stretch.file),
        bytes,
        done,
        bytes.length - done,
        from + done,
      );
      if (size === 0) throw new Error(`${stretch.file} ends before its vectors do`);
      done += size;
    }
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
