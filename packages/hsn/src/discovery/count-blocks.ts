import { Scratch, scratchMemory } from './scratch.ts';
import { rowCount, type SparseRows } from './sparse.ts';

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
