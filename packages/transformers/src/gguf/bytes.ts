import { Buffer, isUtf8 } from 'node:buffer';
import { readSync } from 'node:fs';
import { UserError } from '@hidden-schema/base';

/** Stops reading with one line that says what is wrong with the file. */
export type Fail = (what: string) => never;

/** More than the header of any model takes: metadata, vocabulary, and the list of tensors. */
const mostHeaderBytes = 512 << 20;
const windowBytes = 1 << 20;
const longestString = 16 << 20;

/** Fills a buffer from a place in a file, or says that the file ends before. */
export function readAt(descriptor: number, into: Uint8Array, position: number, fail: Fail): void {
  let filled = 0;
  while (filled < into.length) {
    const count = readSync(descriptor, into, filled, into.length - filled, position + filled);
    if (count === 0) fail(`it ends at byte ${position + filled}, where more was expected: it is cut`);
    filled += count;
  }
}

export function failFor(file: string): Fail {
  return (what) => {
    throw new UserError(`${file} is no GGUF file that can be read: ${what}`);
  };
}

/** Little-endian numbers and strings one after another; every length is checked before memory is taken for it. */
export class ByteCursor {
  readonly #descriptor: number;
  readonly #end: number;
  readonly #fail: Fail;
  #window: Buffer = Buffer.alloc(0);
  #start = 0;
  #at = 0;

  constructor(descriptor: number, size: number, fail: Fail) {
    this.#descriptor = descriptor;
    this.#end = Math.min(size, mostHeaderBytes);
    this.#fail = fail;
  }

  /** Bytes read so far. */
  get position(): number {
    return this.#start + this.#at;
  }
  get left(): number {
    return this.#end - this.position;
  }

  take(count: number, what: string): Buffer {
    if (count > this.left)
      this.#fail(`${what} has ${count} bytes at byte ${this.position}, beyond its end or any header's`);
    if (this.#at + count > this.#window.length) this.#refill(count);
    this.#at += count;
    return this.#window.subarray(this.#at - count, this.#at);
  }

  u32(what: string): number {
    return this.take(4, what).readUInt32LE();
  }

  /** A size; one above 2^53 is no size of anything. */
  count(what: string): number {
    const value = this.take(8, what).readBigUInt64LE();
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) this.#fail(`${what} says ${value}`);
    return Number(value);
  }

  text(what: string, longest = longestString): string {
    const length = this.count(`the length of ${what}`);
    if (length > longest) this.#fail(`${what} has ${length} bytes, expected at most ${longest}`);
    const bytes = this.take(length, what);
    if (!isUtf8(bytes)) this.#fail(`${what} is not UTF-8`);
    return bytes.toString('utf8');
  }

  #refill(needed: number): void {
    const position = this.position;
    this.#window = Buffer.allocUnsafeSlow(Math.min(Math.max(needed, windowBytes), this.#end - position));
    readAt(this.#descriptor, this.#window, position, this.#fail);
    this.#start = position;
    this.#at = 0;
  }
}
