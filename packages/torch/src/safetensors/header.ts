import { Buffer, isUtf8 } from 'node:buffer';
import { type DType, dtypeBytes } from '../tensor-memory.ts';
import {
  byteLength,
  dtypeOfName,
  type Fail,
  failFor,
  JsonCursor,
  maxDimensions,
  maxHeaderBytes,
  maxMetadataEntries,
  maxTensors,
  quoted,
  refusePickleContent,
} from './format.ts';

export interface TensorInfo {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly bytes: number;
}

/** Where a tensor lies: `begin` counts from the start of the data, not of the file. */
export interface TensorEntry extends TensorInfo {
  readonly begin: number;
}

export interface Header {
  readonly tensors: ReadonlyMap<string, TensorEntry>;
  readonly metadata: ReadonlyMap<string, string>;
  /** Where the data starts in the file. */
  readonly dataStart: number;
}

/** How many bytes of a file tell whether its header is worth reading. */
export const prefixBytes = 9;

/** The header's length from the file's first nine bytes, checked before anything is allocated for it. */
export function headerLength(prefix: Uint8Array, fileSize: number, file: string): number {
  const fail = failFor(file);
  refusePickleContent(prefix, file);
  if (fileSize < 8 || prefix.length < Math.min(fileSize, prefixBytes))
    fail('size', 'at least 8 bytes, the length of the header', `${Math.min(fileSize, prefix.length)}`);
  const length = new DataView(prefix.buffer, prefix.byteOffset, 8).getBigUint64(0, true);
  if (length > BigInt(maxHeaderBytes))
    fail('header-length', `a header of at most ${maxHeaderBytes} bytes`, `${length}`);
  const inside = `a header inside the file of ${fileSize} bytes`;
  if (length > BigInt(fileSize - 8)) fail('header-length', inside, `${length} bytes: the file is cut`);
  if (length < 2n) fail('header-length', 'a header of at least 2 bytes, {}', `${length}`);
  if (prefix[8] !== 0x7b) fail('json', 'a header that starts with {', `byte ${prefix[8]}`);
  return Number(length);
}

/** Reads and checks a header; `bytes` are the file's first bytes, up to the end of the header or beyond. */
export function parseHeader(bytes: Uint8Array, fileSize: number, file = 'safetensors'): Header {
  const length = headerLength(bytes, fileSize, file);
  const fail = failFor(file);
  const dataStart = 8 + length;
  if (bytes.length < dataStart) fail('header-length', `${length} bytes of header`, `${bytes.length - 8}`);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + 8, length);
  if (!isUtf8(text)) fail('utf8', 'a header in UTF-8', 'bytes that are not UTF-8');
  const tensors = new Map<string, TensorEntry>();
  const metadata = new Map<string, string>();
  const cursor = new JsonCursor(text, fail);
  cursor.object((key) => {
    if (key === '__metadata__') readMetadata(cursor, metadata);
    else tensors.set(key, readEntry(cursor, key, fail));
  }, maxTensors);
  cursor.end();
  checkCoverage(tensors, fileSize - dataStart, fail);
  return { tensors, metadata, dataStart };
}

function readMetadata(cursor: JsonCursor, into: Map<string, string>): void {
  cursor.object(
    (key) => into.set(key, cursor.string('metadata', `the value of metadata ${quoted(key)} to be`)),
    maxMetadataEntries,
  );
}

interface Draft {
  dtype?: DType;
  shape?: number[];
  offsets?: number[];
}

function readEntry(cursor: JsonCursor, name: string, fail: Fail): TensorEntry {
  const draft: Draft = {};
  const wanted = `dtype, shape and data_offsets for tensor ${quoted(name)}`;
  cursor.object((key) => {
    if (key === 'dtype') draft.dtype = readDtype(cursor, name, fail);
    else if (key === 'shape') draft.shape = readNumbers(cursor, maxDimensions, 'shape', name);
    else if (key === 'data_offsets') draft.offsets = readNumbers(cursor, 2, 'offsets', name);
    else fail('json', wanted, `a key ${quoted(key)}`);
  }, 3);
  const { dtype, shape, offsets } = draft;
  if (dtype === undefined || shape === undefined || offsets === undefined)
    fail('json', wanted, `only ${Object.keys(draft).length} of them`);
  const [begin, end] = offsets;
  if (begin === undefined || end === undefined || begin > end)
    fail('offsets', `two rising data_offsets for tensor ${quoted(name)}`, `[${offsets.join(', ')}]`);
  const bytes = byteLength(shape, dtypeBytes[dtype]);
  if (bytes === undefined)
    fail('shape', `a shape whose bytes stay below 2^53 for tensor ${quoted(name)}`, `[${shape.join(', ')}]`);
  const stated = `${bytes} bytes for ${dtype}[${shape.join(', ')}] of tensor ${quoted(name)}`;
  if (bytes !== end - begin) fail('byte-length', stated, `${end - begin}`);
  return { dtype, shape, bytes, begin };
}

function readDtype(cursor: JsonCursor, name: string, fail: Fail): DType {
  const text = cursor.string();
  return (
    dtypeOfName.get(text) ??
    fail('dtype', `one of ${[...dtypeOfName.keys()].join(', ')} for tensor ${quoted(name)}`, quoted(text))
  );
}

function readNumbers(cursor: JsonCursor, limit: number, rule: 'shape' | 'offsets', name: string): number[] {
  const out: number[] = [];
  const what = `the ${rule} of tensor ${quoted(name)}`;
  cursor.array(() => out.push(cursor.wholeNumber(rule, what)), limit);
  return out;
}

/** The tensors must follow one another from 0 to the end of the data, without overlap or hole. */
function checkCoverage(tensors: ReadonlyMap<string, TensorEntry>, dataBytes: number, fail: Fail): void {
  const sorted = [...tensors].sort(([, a], [, b]) => a.begin - b.begin || a.bytes - b.bytes);
  let end = 0;
  for (const [name, { begin, bytes }] of sorted) {
    const found = `${begin}: ${begin < end ? 'an overlap' : 'a hole'}`;
    if (begin !== end) fail('offsets', `tensor ${quoted(name)} to start at ${end}`, found);
    end += bytes;
  }
  const found = `${dataBytes}: the file is ${dataBytes < end ? 'cut' : 'too long'}`;
  if (end !== dataBytes) fail('size', `${end} bytes of data after the header`, found);
}
