import fs from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { openRegular, UserError } from '@hidden-schema/base';
import { linesOf, type MetricsRow } from './metrics.ts';

const LINE_FEED = 0x0a;
/** Bytes that are read and parsed before others get their turn: a few milliseconds. */
const SLICE = 1 << 16;
/** Rows of a block, of which only the place is remembered. */
const BLOCK = 250;
const LONGEST_LINE = 1 << 20;
/** Bytes by which a file is known again: some rows with their times. */
const REMEMBERED = 1024;

interface Block {
  start: number;
  rows: number;
  /** The latest step in it. */
  step: number;
}

interface Listener {
  onRow(row: MetricsRow): void;
  /** The file was begun anew, as by a run that was resumed from an earlier step. */
  onRestart(): void;
}

/** Reads a metrics file once, then only what is new, in slices between which the event loop goes on. */
export class MetricsFollower {
  readonly #file: string;
  readonly #listener: Listener;
  #blocks: Block[] = [];
  /** Up to where lines were read, in which file, and their last bytes. */
  #end = 0;
  #inode = 0;
  #last = Buffer.alloc(0);
  #total = 0;
  #reading: Promise<void> | undefined;

  constructor(file: string, listener: Listener) {
    this.#file = file;
    this.#listener = listener;
  }

  /** Rows so far. */
  get total(): number {
    return this.#total;
  }

  /** Reads on to the end of the file. */
  advance(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** At most so many rows from a number on, those of later steps than `after`. */
  async rows(from: number, after: number, most: number): Promise<MetricsRow[]> {
    const found: MetricsRow[] = [];
    const blocks = this.#blocks.map((block, at) => ({
      ...block,
      end: this.#blocks[at + 1]?.start ?? this.#end,
    }));
    const file = this.#open();
    if (file === undefined) return found;
    try {
      let first = 0;
      for (const { start, end, rows, step } of blocks) {
        if (found.length >= most) break;
        if (first + rows > from && step > after) {
          const own = linesOf(readAt(file, start, end - start)).lines.flatMap(({ row }) => row ?? []);
          found.push(...own.slice(Math.max(0, from - first)).filter((row) => row.step > after));
          await setImmediate();
        }
        first += rows;
      }
    } finally {
      fs.closeSync(file);
    }
    return found.slice(0, most);
  }

  #open(): number | undefined {
    try {
      return openRegular(this.#file, { follow: false });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async #read(): Promise<void> {
    const file = this.#open();
    if (file === undefined) return this.#restart(0);
    try {
      const { ino } = fs.fstatSync(file);
      if (ino !== this.#inode || !this.#goesOn(file)) this.#restart(ino);
      let size = SLICE;
      for (;;) {
        const bytes = readAt(file, this.#end, size);
        const whole = bytes.subarray(0, bytes.lastIndexOf(LINE_FEED) + 1);
        if (whole.length > 0) this.#take(whole);
        if (bytes.length < size) return;
        if (size > LONGEST_LINE) throw new UserError(`${this.#file} is damaged: expected lines of metrics`);
        // A line longer than a slice is read in a longer one.
        size = whole.length > 0 ? SLICE : 2 * size;
        await setImmediate();
      }
    } finally {
      fs.closeSync(file);
    }
  }

  /** Whether what was read is still there. */
  #goesOn(file: number): boolean {
    return readAt(file, this.#end - this.#last.length, this.#last.length).equals(this.#last);
  }

  #restart(inode: number): void {
    const anew = this.#end > 0;
    this.#inode = inode;
    this.#blocks = [];
    this.#end = 0;
    this.#total = 0;
    this.#last = Buffer.alloc(0);
    if (anew) this.#listener.onRestart();
  }

  #take(whole: Buffer): void {
    let start = 0;
    for (const { row, end } of linesOf(whole).lines) {
      if (row) this.#count(row, this.#end + start);
      start = end;
    }
    this.#end += whole.length;
    this.#last = Buffer.concat([this.#last, whole]).subarray(-REMEMBERED);
  }

  #count(row: MetricsRow, start: number): void {
    let block = this.#blocks.at(-1);
    if (!block || block.rows >= BLOCK) {
      block = { start, rows: 0, step: row.step };
      this.#blocks.push(block);
    }
    block.rows++;
    block.step = Math.max(block.step, row.step);
    this.#total++;
    this.#listener.onRow(row);
  }
}

function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, fs.readSync(file, bytes, 0, length, position));
}
