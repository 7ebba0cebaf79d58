import { Buffer } from 'node:buffer';
import { closeSync, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { noGrad } from '../autograd.ts';
import { dtypeBytes, dtypeCodes } from '../dtype.ts';
import { scope } from '../scope.ts';
import { call, type Tensor } from '../tensor.ts';
import { failFor, quoted, reasonOf, SafetensorsError } from './errors.ts';
import {
  type Header,
  headerLength,
  parseHeader,
  prefixBytes,
  type TensorEntry,
  type TensorInfo,
} from './header.ts';
import { refusePickleName } from './pickle.ts';

/** Named tensors in one or several files. Nothing is read before `get`, and then only the pages that are used. */
export interface Weights {
  readonly names: readonly string[];
  readonly metadata: ReadonlyMap<string, string>;
  has(name: string): boolean;
  info(name: string): TensorInfo;
  /** The tensor, on the file's own pages where its offset allows; writing to it never reaches the file. */
  get(name: string): Tensor;
  /** Gives back the mapping; tensors that `get` returned stay valid. */
  close(): void;
}

/** Maps a safetensors file, after checking its header against every rule of the format. */
export function openSafetensors(path: string): Weights {
  refusePickleName(path);
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, 'r');
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) failFor(path)('file', 'a file', stats.isDirectory() ? 'a folder' : 'something else');
    const header = readHeader(descriptor, stats.size, path);
    const mapping = map(path, stats);
    return new MappedFile(path, header, mapping);
  } catch (error) {
    if (error instanceof SafetensorsError) throw error;
    throw new SafetensorsError(path, 'file', 'a safetensors file that can be read', reasonOf(error));
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
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

/** The whole file as bytes, mapped privately: pages are read when touched, and copied when written. */
function map(path: string, opened: Stats): Tensor {
  const mapping = call('from_file', path, false, opened.size, dtypeCodes.uint8).keep();
  const now = statSync(path);
  // The path is opened a second time by libtorch: it must still be the file whose header was checked.
  if (
    now.ino === opened.ino &&
    now.dev === opened.dev &&
    now.size === opened.size &&
    now.mtimeMs === opened.mtimeMs
  )
    return mapping;
  mapping.free();
  return failFor(path)('file', 'a file that stays as it is while it is opened', 'one that was replaced');
}

class MappedFile implements Weights {
  readonly names: readonly string[];
  readonly metadata: ReadonlyMap<string, string>;
  readonly #path: string;
  readonly #header: Header;
  readonly #mapping: Tensor;

  constructor(path: string, header: Header, mapping: Tensor) {
    this.names = [...header.tensors.keys()];
    this.metadata = header.metadata;
    this.#path = path;
    this.#header = header;
    this.#mapping = mapping;
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
    if (!this.#mapping.alive)
      failFor(this.#path)('closed', 'an open file', `a call for ${quoted(name)} after close()`);
    return noGrad(() => scope(() => this.#view(entry)));
  }

  close(): void {
    this.#mapping.free();
  }

  #view(entry: TensorEntry): Tensor {
    const start = this.#header.dataStart + entry.begin;
    const raw = this.#mapping.narrow(0, start, entry.bytes);
    // A byte other than 0 and 1 in a C++ bool is undefined behaviour, so these are compared, not reinterpreted.
    if (entry.dtype === 'bool') return raw.ne(0).reshape(...entry.shape);
    const aligned = start % dtypeBytes[entry.dtype] === 0 ? raw : raw.clone();
    return aligned.viewAs(entry.dtype).reshape(...entry.shape);
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
