import { Buffer } from 'node:buffer';
import { closeSync, fstatSync } from 'node:fs';
import { openRegular, reasonOf, UserError } from '@hidden-schema/base';
import { ByteCursor, type Fail, failFor, readAt } from './bytes.ts';
import { type BlockFormat, blockFormat } from './formats.ts';

/** One value of a GGUF's metadata; 64-bit numbers are exact up to 2^53. */
export type MetadataValue = string | number | boolean | readonly string[] | readonly number[];

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

/** A GGUF file (version 2 or 3) whose header was checked against the file; tensors are read by rows when asked for. */
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
    let descriptor: number | undefined;
    try {
      descriptor = openRegular(path);
      return new GgufFile(path, descriptor);
    } catch (error) {
      if (descriptor !== undefined) closeSync(descriptor);
      if (error instanceof UserError) throw error;
      throw new UserError(`cannot read ${path}: ${reasonOf(error)}; expected a GGUF file`);
    }
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
