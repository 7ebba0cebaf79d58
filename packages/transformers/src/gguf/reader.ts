import { Buffer, isUtf8 } from 'node:buffer';
import { closeSync, fstatSync } from 'node:fs';
import { asUserError, openRegular, readFully, UserError } from '@hidden-schema/base';
import type { Fail } from '../protobuf.ts';
import { type BlockFormat, blockFormat } from './formats.ts';

/** One value of a GGUF's metadata; 64-bit numbers are exact up to 2^53. */
type MetadataValue = string | number | boolean | readonly string[] | readonly number[];

export interface GgufTensor {
  readonly name: string;
  /** Slowest dimension first, as everywhere here; the file has it the other way round. */
  readonly shape: readonly number[];
  readonly format: BlockFormat;
  /** Where its blocks start in the file. */
  readonly begin: number;
  readonly bytes: number;
}

const mostEntries = 100_000;
const mostElements = 1 << 24;
const longestName = 1024;
const longestKey = 65_535;
const mostDimensions = 4;
const stringType = 8;
const arrayType = 9;

type Scalar = number | boolean;

/** Metadata's plain values by the number of their type: bytes, and how they read. */
const scalars: ReadonlyMap<number, readonly [bytes: number, read: (bytes: Buffer) => Scalar | bigint]> =
  new Map([
    [0, [1, (b) => b.readUInt8()]],
    [1, [1, (b) => b.readInt8()]],
    [2, [2, (b) => b.readUInt16LE()]],
    [3, [2, (b) => b.readInt16LE()]],
    [4, [4, (b) => b.readUInt32LE()]],
    [5, [4, (b) => b.readInt32LE()]],
    [6, [4, (b) => b.readFloatLE()]],
    [7, [1, (b) => b[0] !== 0]],
    [10, [8, (b) => b.readBigUInt64LE()]],
    [11, [8, (b) => b.readBigInt64LE()]],
    [12, [8, (b) => b.readDoubleLE()]],
  ]);

/**
 * A GGUF file (version 2 or 3) whose header was checked against the file; tensors are read by rows when asked for. Our own,
 * since @huggingface/gguf checks neither doubled names nor UTF-8, nor that tensors lie inside the file and apart.
 */
export class GgufFile {
  readonly path: string;
  readonly metadata: ReadonlyMap<string, MetadataValue>;
  readonly tensors: ReadonlyMap<string, GgufTensor>;
  readonly fail: Fail;
  readonly #descriptor: number;

  private constructor(path: string, descriptor: number) {
    this.path = path;
    this.fail = failFor(path);
    this.#descriptor = descriptor;
    const { size } = fstatSync(descriptor);
    const header = readHeader(new ByteCursor(descriptor, size, this.fail), size, this.fail);
    this.metadata = header.metadata;
    this.tensors = header.tensors;
  }

  static open(path: string): GgufFile {
    const fault = (reason: string) => `cannot read ${path}: ${reason}; expected a GGUF file`;
    const descriptor = asUserError(() => openRegular(path), fault);
    try {
      return asUserError(() => new GgufFile(path, descriptor), fault);
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
  }

  has(key: string): boolean {
    return this.metadata.has(key);
  }
  number(key: string, fallback?: number): number {
    return this.#value(key, fallback, 'a number', Number.isFinite);
  }
  text(key: string, fallback?: string): string {
    return this.#value(key, fallback, 'a string', (value) => typeof value === 'string');
  }
  flag(key: string, fallback: boolean): boolean {
    return this.#value(key, fallback, 'true or false', (value) => typeof value === 'boolean');
  }
  texts(key: string): readonly string[] {
    return this.#value<string[]>(key, undefined, 'a list of strings', isListOf('string'));
  }
  numbers(key: string): readonly number[] {
    return this.#value<number[]>(key, undefined, 'a list of numbers', isListOf('number'));
  }

  /** Metadata by key and type; what is missing or of another type is told by its key. */
  #value<T extends MetadataValue>(
    key: string,
    fallback: T | undefined,
    expected: string,
    fits: (value: MetadataValue) => boolean,
  ): T {
    const value = this.metadata.get(key) ?? fallback;
    if (value === undefined) return this.fail(`its metadata has no ${key}`);
    const shown = Array.isArray(value) ? `a list of ${value.length}` : JSON.stringify(value).slice(0, 60);
    if (!fits(value)) this.fail(`expected ${expected} as ${key} in its metadata, got ${shown}`);
    return value as T;
  }

  /** The stored blocks of some rows of a tensor. */
  rows(tensor: GgufTensor, first: number, count: number): Buffer {
    const rowBytes = tensor.bytes / rowCount(tensor);
    const bytes = Buffer.allocUnsafeSlow(count * rowBytes);
    readAt(this.#descriptor, bytes, tensor.begin + first * rowBytes, this.fail);
    return bytes;
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

const isListOf = (type: 'string' | 'number') => (value: MetadataValue) =>
  Array.isArray(value) && (value.length === 0 || typeof value[0] === type);

/** Rows: what is left of a shape without its last dimension. */
export function rowCount({ shape }: Pick<GgufTensor, 'shape'>): number {
  return shape.slice(0, -1).reduce((product, n) => product * n, 1);
}

function readHeader(cursor: ByteCursor, size: number, fail: Fail) {
  if (cursor.left < 24) fail(`it has ${size} bytes`);
  if (cursor.take(4, 'its start').toString('latin1') !== 'GGUF') fail('it does not start with GGUF');
  const version = cursor.u32('its version');
  if (version === 0x02000000 || version === 0x03000000)
    fail('its numbers are big-endian; convert it to little-endian first');
  if (version !== 2 && version !== 3) fail(`expected version 2 or 3, got ${version}`);
  const tensorCount = cursor.count('the number of tensors');
  const entryCount = cursor.count('the number of metadata entries');
  if (tensorCount > mostEntries) fail(`it says it has ${tensorCount} tensors`);
  if (entryCount > mostEntries) fail(`it says it has ${entryCount} metadata entries`);
  const metadata = readMetadata(cursor, entryCount, fail);
  const drafts = Array.from({ length: tensorCount }, () => readTensor(cursor, fail));
  const alignment = metadata.get('general.alignment') ?? 32;
  if (typeof alignment !== 'number' || !Number.isInteger(alignment) || alignment < 1 || alignment > 1 << 20)
    fail(`general.alignment is ${JSON.stringify(alignment)}, expected a number of bytes`);
  const start = Math.ceil(cursor.position / alignment) * alignment;
  const placed = drafts.map((draft) => ({ ...draft, begin: start + draft.begin }));
  checkPlaces(placed, { start, size, alignment }, fail);
  const tensors = new Map(placed.map((tensor) => [tensor.name, tensor]));
  if (tensors.size < placed.length) fail('two of its tensors have the same name');
  return { metadata, tensors };
}

function readMetadata(cursor: ByteCursor, count: number, fail: Fail): Map<string, MetadataValue> {
  const metadata = new Map<string, MetadataValue>();
  for (let i = 0; i < count; i++) {
    const key = cursor.text(`metadata key ${i}`, longestKey);
    if (metadata.has(key)) fail(`its metadata has ${JSON.stringify(key)} twice`);
    const what = `metadata ${JSON.stringify(key)}`;
    metadata.set(key, readValue(cursor, cursor.u32(what), what, fail));
  }
  return metadata;
}

function readValue(cursor: ByteCursor, type: number, what: string, fail: Fail): MetadataValue {
  if (type === stringType) return cursor.text(what);
  if (type !== arrayType) return readScalar(cursor, type, what, fail);
  const element = cursor.u32(what);
  const count = cursor.count(`the length of ${what}`);
  // A string takes at least its length's eight bytes.
  const least = element === stringType ? 8 : (scalars.get(element)?.[0] ?? 1);
  if (count > mostElements || count * least > cursor.left)
    fail(`${what} says it has ${count} elements, more than the file has room for`);
  if (element === stringType) return Array.from({ length: count }, () => cursor.text(what));
  return Array.from({ length: count }, () => Number(readScalar(cursor, element, what, fail)));
}

function readScalar(cursor: ByteCursor, type: number, what: string, fail: Fail): Scalar {
  const known = scalars.get(type);
  if (!known) return fail(`${what} has the unknown type ${type}`);
  const value = known[1](cursor.take(known[0], what));
  return typeof value === 'bigint' ? Number(value) : value;
}

function readTensor(cursor: ByteCursor, fail: Fail): GgufTensor {
  const name = cursor.text('the name of a tensor', longestName);
  const what = `tensor ${JSON.stringify(name)}`;
  const dimensions = cursor.u32(what);
  if (dimensions < 1 || dimensions > mostDimensions)
    fail(`${what} has ${dimensions} dimensions, expected 1 to ${mostDimensions}`);
  const shape = Array.from({ length: dimensions }, () => cursor.count(`a size of ${what}`)).reverse();
  const format = blockFormat(cursor.u32(what), what, fail);
  const begin = cursor.count(`the place of ${what}`);
  const elements = shape.reduce((product, n) => product * n, 1);
  const { block, bytes: blockBytes } = format;
  if (shape.some((n) => n < 1) || !Number.isSafeInteger(elements * blockBytes))
    fail(`${what} has the shape [${shape.join(', ')}]`);
  if (shape.at(-1)! % block !== 0)
    fail(`${what} has rows of ${shape.at(-1)} numbers, expected a multiple of ${block} for ${format.name}`);
  return { name, shape, format, begin, bytes: (elements / block) * blockBytes };
}

/** Every tensor lies inside the file, aligned, and on no other's bytes. */
function checkPlaces(
  tensors: readonly GgufTensor[],
  { start, size, alignment }: { start: number; size: number; alignment: number },
  fail: Fail,
): void {
  let end = start;
  for (const { name, begin, bytes } of [...tensors].sort((a, b) => a.begin - b.begin)) {
    const what = `tensor ${JSON.stringify(name)}`;
    if (begin % alignment !== 0) fail(`${what} starts at byte ${begin}, no multiple of ${alignment}`);
    if (begin < end) fail(`${what} starts at byte ${begin}, inside the tensor before it`);
    end = begin + bytes;
    if (end > size) fail(`${what} ends at byte ${end} of a file of ${size}: it is cut`);
  }
}

/** More than the header of any model takes: metadata, vocabulary, and the list of tensors. */
const mostHeaderBytes = 512 << 20;
const windowBytes = 1 << 20;
const longestString = 16 << 20;

/** Fills a buffer from a place in a file, or says that the file ends before. */
export function readAt(descriptor: number, into: Uint8Array, position: number, fail: Fail): void {
  const count = readFully(descriptor, into, position);
  if (count < into.length) fail(`it ends at byte ${position + count}, where more was expected: it is cut`);
}

export const failFor =
  (file: string): Fail =>
  (what) => {
    throw new UserError(`${file} is no GGUF file that can be read: ${what}`);
  };

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
