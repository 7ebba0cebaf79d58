import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { cacheFolder, readFully, UserError } from '@hidden-schema/base';
import { Tensor } from '@hidden-schema/torch';
import { mostAtOnce, type PointSource } from './point-source.ts';
import { rowCount, type SparseRows } from './points.ts';

// Shapes: N texts, V words.

/** Word counts [N, V] of which each process has its part, block by block. */
export interface CountSource {
  /** V */
  readonly columns: number;
  /** N, of all processes. */
  readonly texts: number;
  blocks(): Iterable<SparseRows>;
}

/** Counts that are all in memory. */
export const countsOf = (counts: SparseRows): CountSource => ({
  columns: counts.columns,
  texts: rowCount(counts),
  blocks: () => [counts],
});

/** Where one block lies on disk, and how much it is. */
interface Stored {
  place: number;
  columns: number;
  rows: number;
  numbers: number;
}

/** Sparse blocks, put down once and read several times: in memory until they are many, then on disk. */
export class SparseSpool {
  readonly #blocks: (SparseRows | Stored)[] = [];
  readonly #scratch = new Scratch();
  #memory: number;

  constructor(memory = scratchMemory) {
    this.#memory = memory;
  }

  add(block: SparseRows): void {
    const { columns, indptr, indices, values } = block;
    this.#memory -= 4 * (indptr.length + indices.length + values.length);
    if (this.#memory >= 0) {
      this.#blocks.push(block);
      return;
    }
    const place = this.#scratch.append(bytesOf(indptr));
    this.#scratch.append(bytesOf(indices));
    this.#scratch.append(bytesOf(values));
    this.#blocks.push({ place, columns, rows: rowCount(block), numbers: indices.length });
  }

  *blocks(): Generator<SparseRows> {
    for (const block of this.#blocks) yield 'place' in block ? this.#read(block) : block;
  }

  #read({ place, columns, rows, numbers }: Stored): SparseRows {
    const indptr = new Int32Array(rows + 1);
    const indices = new Int32Array(numbers);
    const values = new Float32Array(numbers);
    let at = place;
    for (const part of [indptr, indices, values]) {
      this.#scratch.read(bytesOf(part), at);
      at += part.byteLength;
    }
    return { columns, indptr, indices, values };
  }

  free(): void {
    this.#blocks.length = 0;
    this.#scratch.free();
  }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Int32Array | Float32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

// Shapes: S width of a point.

export interface SpoolSizes {
  /** Points of all processes. */
  count: number;
  width: number;
  /** This process's part of them. */
  first: number;
  end: number;
  /** Bytes that stay in memory; more are put on disk. */
  memory?: number;
}

/** This process's points, put down once and read block by block: in memory where they are few, else from disk. */
export class RowSpool implements PointSource {
  readonly count: number;
  readonly width: number;
  readonly first: number;
  readonly end: number;
  readonly #blocks: Tensor[] = [];
  readonly #scratch: Scratch | undefined;
  /** What is read from disk comes through here, so that no block leaves memory behind for the collector. */
  #buffer = new Float32Array(0);

  constructor({ count, width, first, end, memory = scratchMemory }: SpoolSizes) {
    [this.count, this.width, this.first, this.end] = [count, width, first, end];
    if (4 * width * (end - first) > memory) this.#scratch = new Scratch();
  }

  /** Whether points are read from disk. */
  get onDisk(): boolean {
    return this.#scratch !== undefined;
  }

  /** The next points; all but the last come in whole blocks. [n, S] */
  add(points: Tensor): void {
    if (this.#scratch) {
      const numbers = points.contiguous().toArray() as Float32Array;
      this.#scratch.append(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength));
      return;
    }
    for (let at = 0; at < points.dim(0); at += mostAtOnce)
      this.#blocks.push(
        points
          .narrow(0, at, Math.min(mostAtOnce, points.dim(0) - at))
          .clone()
          .keep(),
      );
  }

  rows(from: number, to: number): Tensor {
    const start = from - this.first;
    if (!this.#scratch) {
      const block = this.#blocks[Math.floor(start / mostAtOnce)]!;
      return block.narrow(0, start % mostAtOnce, to - from);
    }
    const size = (to - from) * this.width;
    if (this.#buffer.length < size) this.#buffer = new Float32Array(size);
    const numbers = this.#buffer.subarray(0, size);
    this.#scratch.read(new Uint8Array(numbers.buffer, 0, numbers.byteLength), 4 * this.width * start);
    return Tensor.fromArray(numbers, [to - from, this.width]);
  }

  free(): void {
    for (const block of this.#blocks) block.free();
    this.#scratch?.free();
  }
}

/** Bytes that a discovery keeps in memory before it turns to the disk. */
export const scratchMemory = 256 << 20;

/** Bytes put down on disk while a process lives: the file has no name, so nothing is left however it ends. */
export class Scratch {
  #descriptor: number | undefined;
  #end = 0;

  /** Where the bytes were put. */
  append(bytes: Uint8Array): number {
    this.#descriptor ??= unnamedFile();
    const place = this.#end;
    try {
      for (let done = 0; done < bytes.length; )
        done += fs.writeSync(this.#descriptor, bytes, done, bytes.length - done, place + done);
    } catch (error) {
      throw new UserError(
        `points of texts do not fit on the disk (${(error as Error).message}); free some, or name another folder with HSN_CACHE`,
      );
    }
    this.#end += bytes.length;
    return place;
  }

  read(into: Uint8Array, place: number): void {
    const read = readFully(this.#descriptor!, into, place);
    if (read < into.length) throw new Error(`the scratch file ends at ${place + read}`);
  }

  free(): void {
    if (this.#descriptor !== undefined) fs.closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

/** Beside the caches, which lie where there is room; else among temporary files. */
function unnamedFile(): number {
  let fault: unknown;
  for (const folder of [cacheFolder(), os.tmpdir()])
    try {
      fs.mkdirSync(folder, { recursive: true });
      const file = path.join(folder, `.scratch-${process.pid}-${randomBytes(6).toString('hex')}`);
      const descriptor = fs.openSync(file, 'wx+', 0o600);
      fs.unlinkSync(file);
      return descriptor;
    } catch (error) {
      fault = error;
    }
  throw new UserError(
    `no file can be made for the points of texts: ${(fault as Error).message}; HSN_CACHE names another folder`,
  );
}
