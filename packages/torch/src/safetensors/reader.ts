import { Buffer } from 'node:buffer';
import { closeSync, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { reasonOf } from '@hidden-schema/base';
import { noGrad } from '../autograd.ts';
import { defaultDevice } from '../device.ts';
import { dtypeCodes } from '../dtype.ts';
import { guarded, native } from '../native.ts';
import { scope } from '../scope.ts';
import { call, type Tensor } from '../tensor.ts';
import { failFor, quoted, SafetensorsError } from './errors.ts';
import {
  type Header,
  headerLength,
  parseHeader,
  prefixBytes,
  type TensorEntry,
  type TensorInfo,
} from './header.ts';
import { refusePickleName } from './pickle.ts';

/** Named tensors in one or several files. Nothing but headers is read before `get`, and then that tensor alone. */
export interface Weights {
  readonly names: readonly string[];
  readonly metadata: ReadonlyMap<string, string>;
  has(name: string): boolean;
  info(name: string): TensorInfo;
  /** The tensor on the default device, in memory of its own: neither writing to it nor to the file reaches the other. */
  get(name: string): Tensor;
  /** Gives back the file; tensors that `get` returned stay valid. */
  close(): void;
}

/** Opens a safetensors file, after checking its header against every rule of the format. */
export function openSafetensors(path: string): Weights {
  refusePickleName(path);
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, 'r');
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) failFor(path)('file', 'a file', stats.isDirectory() ? 'a folder' : 'something else');
    return new OpenFile(path, descriptor, stats, readHeader(descriptor, stats.size, path));
  } catch (error) {
    if (descriptor !== undefined) closeSync(descriptor);
    if (error instanceof SafetensorsError) throw error;
    throw new SafetensorsError(path, 'file', 'a safetensors file that can be read', reasonOf(error));
  }
}

function readHeader(descriptor: number, size: number, path: string): Header {
  const prefix = Buffer.alloc(Math.min(prefixBytes, size));
  readSync(descriptor, prefix, 0, prefix.length, 0);
  const length = headerLength(prefix, size, path);
  const bytes = Buffer.allocUnsafeSlow(8 + length);
  const count = readSync(descriptor, bytes, 0, bytes.length, 0);
  return parseHeader(bytes.subarray(0, count), size, path);
}

/** Files that were never closed, given back with the object that held them. */
const forgotten = new FinalizationRegistry<number>((descriptor) => closeSync(descriptor));

class OpenFile implements Weights {
  readonly names: readonly string[];
  readonly metadata: ReadonlyMap<string, string>;
  readonly #path: string;
  readonly #opened: Stats;
  readonly #header: Header;
  #descriptor: number | undefined;

  constructor(path: string, descriptor: number, opened: Stats, header: Header) {
    this.names = [...header.tensors.keys()];
    this.metadata = header.metadata;
    this.#path = path;
    this.#descriptor = descriptor;
    this.#opened = opened;
    this.#header = header;
    forgotten.register(this, descriptor, this);
  }

  has(name: string): boolean {
    return this.#header.tensors.has(name);
  }

  info(name: string): TensorInfo {
    const { dtype, shape, bytes } = this.#entry(name);
    return { dtype, shape, bytes };
  }

  get(name: string): Tensor {
    const entry = this.#entry(name);
    const descriptor =
      this.#descriptor ??
      failFor(this.#path)('closed', 'an open file', `a call for ${quoted(name)} after close()`);
    return noGrad(() => scope(() => this.#read(descriptor, name, entry)));
  }

  close(): void {
    if (this.#descriptor === undefined) return;
    forgotten.unregister(this);
    closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #read(descriptor: number, name: string, { dtype, shape, bytes, begin }: TensorEntry): Tensor {
    // A byte other than 0 and 1 in a C++ bool is undefined behaviour, so these are compared, not reinterpreted.
    const stored = dtype === 'bool' ? 'uint8' : dtype;
    const tensor = call('empty.memory_format', shape, dtypeCodes[stored], undefined, 'cpu');
    const count = guarded(
      'readFile',
      () => [{ shape, dtype }],
      () => native.readFile(descriptor, this.#header.dataStart + begin, tensor.handle),
    );
    this.#checkUnchanged(descriptor);
    if (count < bytes)
      failFor(this.#path)('size', `${bytes} bytes of tensor ${quoted(name)}`, `${count}: the file is cut`);
    const read = dtype === 'bool' ? tensor.ne(0) : tensor;
    return defaultDevice() === 'cpu' ? read : read.toDevice(defaultDevice());
  }

  /** The header speaks of the file as it was when it was opened; one renamed away still is that file. */
  #checkUnchanged(descriptor: number): void {
    const now = fstatSync(descriptor);
    const { size, mtimeMs } = this.#opened;
    if (now.size === size && now.mtimeMs === mtimeMs) return;
    const got =
      now.size < size ? `one that was cut from ${size} to ${now.size} bytes` : 'one that was changed';
    failFor(this.#path)('file', 'a file that stays as it is while it is read', got);
  }

  #entry(name: string): TensorEntry {
    const entry = this.#header.tensors.get(name);
    if (entry !== undefined) return entry;
    const some = this.names.slice(0, 3).map(quoted).join(', ');
    return failFor(this.#path)(
      'name',
      `a tensor named ${quoted(name)}`,
      `${this.names.length} others (${some})`,
    );
  }
}
