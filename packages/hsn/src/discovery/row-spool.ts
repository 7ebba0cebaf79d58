import { Tensor } from '@hidden-schema/torch';
import { mostAtOnce, type PointSource } from './point-source.ts';
import { Scratch, scratchMemory } from './scratch.ts';

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
