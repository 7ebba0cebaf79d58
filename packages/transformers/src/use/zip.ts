import { inflateRawSync } from 'node:zlib';
import { reasonOf } from '@hidden-schema/base';
import type { Fail } from '../protobuf.ts';

/** Signatures of a zip's parts, and how many bytes each has before its names. */
const END = { mark: 0x06054b50, size: 22 } as const;
const ENTRY = { mark: 0x02014b50, size: 46 } as const;
const LOCAL = { mark: 0x04034b50, size: 30 } as const;
const STORED = 0;
const DEFLATED = 8;
/** A comment may stand after the end's record. */
const longestComment = 0xffff;
/** What one file of an archive may become, and how many there may be. */
const mostBytes = 2 ** 30;
const mostFiles = 10_000;

interface Entry {
  readonly flags: number;
  readonly method: number;
  readonly checksum: number;
  readonly packed: number;
  readonly size: number;
  readonly place: number;
}

/** The files of a zip archive; every length and checksum is checked, and nothing is unpacked before it is read. */
export class Zip {
  readonly #bytes: Buffer;
  readonly #entries: ReadonlyMap<string, Entry>;
  readonly #fail: Fail;

  constructor(bytes: Buffer, fail: Fail) {
    this.#bytes = bytes;
    this.#fail = fail;
    this.#entries = entriesOf(bytes, fail);
  }

  get names(): readonly string[] {
    return [...this.#entries.keys()];
  }

  /** A file's content, unpacked. */
  read(name: string): Buffer {
    const entry = this.#entries.get(name) ?? this.#fail(`it has no ${name}`);
    const { flags, method, packed, size, place } = entry;
    if (flags & 1) this.#fail(`${name} is encrypted`);
    if (size > mostBytes) this.#fail(`${name} becomes ${size} bytes, at most ${mostBytes} are read`);
    const local = part(this.#bytes, place, LOCAL, this.#fail);
    const start = place + LOCAL.size + local.readUInt16LE(26) + local.readUInt16LE(28);
    if (start + packed > this.#bytes.length) this.#fail(`${name} is cut`);
    const content = this.#unpacked(name, method, this.#bytes.subarray(start, start + packed), size);
    if (content.length !== size) this.#fail(`${name} becomes ${content.length} bytes, expected ${size}`);
    if (checksumOf(content) !== entry.checksum) this.#fail(`the checksum of ${name} is another one`);
    return content;
  }

  #unpacked(name: string, method: number, packed: Buffer, size: number): Buffer {
    if (method === STORED) return packed;
    if (method !== DEFLATED) this.#fail(`${name} is packed by method ${method}; 0 and 8 can be read`);
    try {
      return inflateRawSync(packed, { maxOutputLength: Math.max(1, size) });
    } catch (error) {
      return this.#fail(`${name} cannot be unpacked: ${reasonOf(error)}`);
    }
  }
}

/** The record at a place, which must begin with its signature. */
function part(
  bytes: Buffer,
  place: number,
  { mark, size }: { mark: number; size: number },
  fail: Fail,
): Buffer {
  if (place + size > bytes.length || bytes.readUInt32LE(place) !== mark)
    fail(`its table of files leads to byte ${place}, where none of its records is`);
  return bytes.subarray(place, place + size);
}

function entriesOf(bytes: Buffer, fail: Fail): Map<string, Entry> {
  const end = bytes.subarray(Math.max(0, bytes.length - END.size - longestComment));
  const found = end.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  if (found === -1 || found + END.size > end.length) fail('it does not end as a zip archive does');
  const [count, start] = [end.readUInt16LE(found + 10), end.readUInt32LE(found + 16)];
  if (count > mostFiles) fail(`it has ${count} files, at most ${mostFiles} are read`);
  const entries = new Map<string, Entry>();
  for (let n = 0, place = start; n < count; n++) {
    const head = part(bytes, place, ENTRY, fail);
    const names = place + ENTRY.size;
    const nameEnd = names + head.readUInt16LE(28);
    // What else is said of a file, and a comment, stand behind its name.
    place = nameEnd + head.readUInt16LE(30) + head.readUInt16LE(32);
    if (place > bytes.length) fail('its table of files is cut');
    const called = bytes.toString('utf8', names, nameEnd);
    if (entries.has(called)) fail(`it has ${JSON.stringify(called)} twice`);
    entries.set(called, {
      flags: head.readUInt16LE(8),
      method: head.readUInt16LE(10),
      checksum: head.readUInt32LE(16),
      packed: head.readUInt32LE(20),
      size: head.readUInt32LE(24),
      place: head.readUInt32LE(42),
    });
  }
  return entries;
}

/** Remainders of every byte by the polynomial of zip's checksum. */
const remainders = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** CRC-32, as zip has it. */
function checksumOf(bytes: Uint8Array): number {
  let value = 0xffffffff;
  for (const byte of bytes) value = remainders[(value ^ byte) & 0xff]! ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

/** An array of NumPy's. */
export interface NumpyArray {
  readonly shape: readonly number[];
  readonly data: Uint8Array | Int8Array | Float32Array | Float64Array;
}

const magic = Buffer.from('\x93NUMPY', 'latin1');
/** The header as NumPy writes it: a Python dictionary of three entries. Arrays of objects would be pickles. */
const header = /^\{'descr': '([^']+)', 'fortran_order': (True|False), 'shape': \(((?:\d+, ?)*\d*)\), \}\s*$/;
const kinds = {
  '|u1': Uint8Array,
  '|i1': Int8Array,
  '<f4': Float32Array,
  '<f8': Float64Array,
} as const;

/** The array in an npy file; pickled objects are refused. */
export function numpyArray(bytes: Buffer, fail: Fail): NumpyArray {
  const version = bytes[6];
  const sized = version === 1 ? 10 : 12;
  if (!bytes.subarray(0, magic.length).equals(magic) || bytes.length < sized) fail('it is no npy file');
  if (version === undefined || version < 1 || version > 3) fail(`npy version ${version} is not known`);
  const start = sized + (version === 1 ? bytes.readUInt16LE(8) : bytes.readUInt32LE(8));
  const [, kind, fortran, sizes] = header.exec(bytes.toString('latin1', sized, start)) ?? [];
  if (start > bytes.length || kind === undefined || sizes === undefined)
    fail('its header is not that of an array');
  if (fortran === 'True') fail('its numbers go column by column; save it in C order');
  if (!Object.hasOwn(kinds, kind!))
    fail(`its numbers are ${kind}; ${Object.keys(kinds).join(', ')} can be read, and objects are pickles`);
  const shape = sizes!
    .split(',')
    .filter((size) => size.trim() !== '')
    .map(Number);
  const make = kinds[kind as keyof typeof kinds];
  const size = shape.reduce((product, n) => product * n, make.BYTES_PER_ELEMENT);
  if (size !== bytes.length - start)
    fail(`it has ${bytes.length - start} bytes of numbers, its shape needs ${size}`);
  // A copy, because numbers must begin at multiples of their size.
  const own = new Uint8Array(bytes.subarray(start));
  return { shape, data: new make(own.buffer) };
}
