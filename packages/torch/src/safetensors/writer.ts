import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { reasonOf, writeAll, writeBeside } from '@hidden-schema/base';
import { withoutGrad } from '../autograd.ts';
import { native } from '../native.ts';
import type { Tensor } from '../tensor.ts';
import { type DType, dtypeBytes, dtypeNames } from '../tensor-memory.ts';
import { type Fail, failFor, maxHeaderBytes, maxTensors, quoted, SafetensorsError } from './format.ts';

/** At most this much of a tensor is copied out of libtorch at a time. */
const chunkBytes = 16 << 20;
const loneSurrogate = /\p{Surrogate}/u;

export type Metadata = Readonly<Record<string, string>> | ReadonlyMap<string, string>;

/** A tensor to write whose bytes are made when they are asked for. */
export interface TensorSource {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: readonly number[];
  /** Gives all bytes to `put`, in pieces. */
  read(put: (bytes: Uint8Array) => void): void;
}

/**
 * Writes tensors in the order given, to a file that appears whole or not at all; sources need never be in memory whole.
 * Returns the file's size in bytes.
 */
export function writeSafetensors(
  path: string,
  tensors: Iterable<readonly [string, Tensor] | TensorSource>,
  metadata: Metadata = {},
): number {
  const entries = sourcesOf(tensors);
  const header = buildHeader(entries, metadata, failFor(path));
  const temporary = `${path}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    return writeBeside(path, (partial) => writeTo(partial, header, entries), { partial: temporary });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw new SafetensorsError(path, 'write', 'a file that can be written', reasonOf(error));
  }
}

/** The length and the header, padded with spaces so that the data starts at a multiple of 8. */
function buildHeader(entries: readonly TensorSource[], metadata: Metadata, fail: Fail): Buffer {
  const members: string[] = [];
  const pairs = metadata instanceof Map ? [...metadata] : Object.entries(metadata);
  if (pairs.length > 0)
    members.push(`"__metadata__":{${pairs.map((pair) => metadataText(pair, fail)).join(',')}}`);
  const seen = new Set<string>();
  let begin = 0;
  for (const entry of entries) {
    const { name } = entry;
    if (name === '__metadata__' || loneSurrogate.test(name))
      fail('name', 'a usable tensor name', quoted(name));
    if (seen.has(name)) fail('duplicate-key', 'every tensor name once', `${quoted(name)} twice`);
    seen.add(name);
    const end = begin + bytesOf(entry);
    const dtype = dtypeNames[entry.dtype];
    members.push(
      `${JSON.stringify(name)}:{"dtype":"${dtype}","shape":[${entry.shape.join(',')}],"data_offsets":[${begin},${end}]}`,
    );
    begin = end;
  }
  if (seen.size > maxTensors) fail('limit', `at most ${maxTensors} tensors`, `${seen.size}`);
  const text = Buffer.from(`{${members.join(',')}}`);
  const length = Math.ceil(text.length / 8) * 8;
  if (length > maxHeaderBytes)
    fail('header-length', `a header of at most ${maxHeaderBytes} bytes`, `${length}`);
  const out = Buffer.alloc(8 + length, ' ');
  out.writeBigUInt64LE(BigInt(length), 0);
  text.copy(out, 8);
  return out;
}

function metadataText([key, value]: readonly [string, unknown], fail: Fail): string {
  if (typeof value !== 'string')
    fail('metadata', `the value of metadata ${quoted(key)} to be a string`, typeof value);
  if (loneSurrogate.test(key + value)) fail('metadata', 'metadata without lone surrogates', quoted(key));
  return `${JSON.stringify(key)}:${JSON.stringify(value)}`;
}

function bytesOf({ shape, dtype }: Pick<TensorSource, 'shape' | 'dtype'>): number {
  return shape.reduce((product, n) => product * n, 1) * dtypeBytes[dtype];
}

function sourcesOf(tensors: Iterable<readonly [string, Tensor] | TensorSource>): TensorSource[] {
  return Array.from(tensors, (entry) => {
    if ('read' in entry) return entry;
    const [name, tensor] = entry;
    const { dtype, shape } = tensor;
    return { name, dtype, shape, read: (put) => readTensor(tensor, put) };
  });
}

function writeTo(path: string, header: Buffer, entries: readonly TensorSource[]): number {
  const descriptor = openSync(path, 'wx');
  try {
    let size = writeAll(descriptor, header);
    for (const entry of entries) {
      const before = size;
      entry.read((bytes) => {
        size += writeAll(descriptor, bytes);
      });
      if (size - before !== bytesOf(entry))
        throw new RangeError(`${entry.name} has ${bytesOf(entry)} bytes, ${size - before} were given`);
    }
    fsyncSync(descriptor);
    return size;
  } finally {
    closeSync(descriptor);
  }
}

/** The same file in memory: what happens to the tensors afterwards does not reach it. `path` is for errors only. */
export function safetensorsBytes(path: string, tensors: Iterable<readonly [string, Tensor]>): Buffer {
  const entries = sourcesOf(tensors);
  const header = buildHeader(entries, {}, failFor(path));
  const size = entries.reduce((sum, entry) => sum + bytesOf(entry), header.length);
  const out = Buffer.allocUnsafeSlow(size);
  let at = header.copy(out);
  for (const { read } of entries)
    read((bytes) => {
      out.set(bytes, at);
      at += bytes.length;
    });
  return out;
}

/** Gives a tensor's bytes to `put` in pieces. */
function readTensor(tensor: Tensor, put: (bytes: Uint8Array) => void): void {
  const total = bytesOf(tensor);
  if (total === 0) return;
  withoutGrad(() => {
    const plain = tensor.device === 'cpu' ? tensor.detach() : tensor.detach().toDevice('cpu');
    const bytes = plain.contiguous().reshape(-1).viewAs('uint8');
    for (let start = 0; start < total; start += chunkBytes) {
      const chunk = bytes.narrow(0, start, Math.min(chunkBytes, total - start));
      put(new Uint8Array(native.readData(chunk.handle)));
      chunk.free();
    }
  });
}
