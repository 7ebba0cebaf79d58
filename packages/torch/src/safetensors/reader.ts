import { Buffer, isUtf8 } from 'node:buffer';
import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { reasonOf } from '@hidden-schema/base';
import { withoutGrad } from '../autograd.ts';
import { defaultDevice } from '../engine.ts';
import { guarded, native } from '../native.ts';
import { call, type Tensor } from '../tensor.ts';
import { dtypeCodes } from '../tensor-memory.ts';
import {
  failFor,
  hasPickleName,
  JsonCursor,
  maxHeaderBytes,
  maxTensors,
  quoted,
  refusePickleName,
  SafetensorsError,
} from './format.ts';
import {
  type Header,
  headerLength,
  parseHeader,
  prefixBytes,
  type TensorEntry,
  type TensorInfo,
} from './header.ts';

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

/** What `body` makes of weights, which are closed then. */
export function withWeights<T>(weights: Weights, body: (weights: Weights) => T): T {
  try {
    return body(weights);
  } finally {
    weights.close();
  }
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
    return withoutGrad(() => this.#read(descriptor, name, entry));
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
    const place = this.#header.dataStart + begin;
    const count = guarded('readFile', () => native.readFile(descriptor, place, tensor.handle), [tensor]);
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
    const got = `${this.names.length} others (${some})`;
    return failFor(this.#path)('name', `a tensor named ${quoted(name)}`, got);
  }
}

const singleName = 'model.safetensors';
const indexName = 'model.safetensors.index.json';
const maxShards = 10_000;

/** Opens weights wherever they are: a .safetensors file, an index of shards, or a folder with either. */
export function openWeights(path: string): Weights {
  if (!isFolder(path)) return path.endsWith('.json') ? openShardedSafetensors(path) : openSafetensors(path);
  const files = readdirSync(path).sort();
  if (files.includes(singleName)) return openSafetensors(join(path, singleName));
  if (files.includes(indexName)) return openShardedSafetensors(join(path, indexName));
  const found = files.filter((name) => name.endsWith('.safetensors'));
  if (found.length === 1) return openSafetensors(join(path, found[0]!));
  const pickle = files.find(hasPickleName);
  if (found.length === 0 && pickle !== undefined) refusePickleName(join(path, pickle));
  const got = found.length === 0 ? 'none of them' : `${found.length} .safetensors files and no index`;
  return failFor(path)('file', `${singleName}, ${indexName} or one .safetensors file in the folder`, got);
}

/** Opens the shards that an index in Hugging Face's layout names, as if they were one file. */
export function openShardedSafetensors(folderOrIndex: string): Weights {
  const index = isFolder(folderOrIndex) ? join(folderOrIndex, indexName) : folderOrIndex;
  const shardOf = readIndex(index);
  const shards = new Map<string, Weights>();
  try {
    for (const shard of new Set(shardOf.values()))
      shards.set(shard, openSafetensors(shardPath(index, shard)));
    for (const [name, shard] of shardOf)
      if (!shards.get(shard)!.has(name))
        failFor(index)('shard', `tensor ${quoted(name)} in ${quoted(shard)}`, 'a shard without it');
  } catch (error) {
    for (const shard of shards.values()) shard.close();
    throw error;
  }
  return new ShardedFiles(index, shardOf, shards);
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    throw new SafetensorsError(path, 'file', 'weights that can be read', reasonOf(error));
  }
}

/** The index's weight_map: the shard of each tensor. */
function readIndex(file: string): Map<string, string> {
  const fail = failFor(file);
  const bytes = readIndexBytes(file);
  if (!isUtf8(bytes)) fail('utf8', 'an index in UTF-8', 'bytes that are not UTF-8');
  const shardOf = new Map<string, string>();
  let found = false;
  const cursor = new JsonCursor(bytes, fail);
  cursor.object((key) => {
    if (key !== 'weight_map') return cursor.skip(maxTensors);
    found = true;
    cursor.object(
      (name) => shardOf.set(name, cursor.string('index', `the shard of ${quoted(name)} to be`)),
      maxTensors,
    );
  }, 1000);
  cursor.end();
  if (!found) fail('index', 'a weight_map from tensor names to shard files', 'an index without it');
  if (new Set(shardOf.values()).size > maxShards) fail('limit', `at most ${maxShards} shards`, 'more');
  return shardOf;
}

function readIndexBytes(file: string): Buffer {
  try {
    const { size } = statSync(file);
    if (size > maxHeaderBytes)
      failFor(file)('limit', `an index of at most ${maxHeaderBytes} bytes`, `${size}`);
    return readFileSync(file);
  } catch (error) {
    if (error instanceof SafetensorsError) throw error;
    throw new SafetensorsError(file, 'file', 'an index of shards that can be read', reasonOf(error));
  }
}

/** The file of a shard; an index may only name files that lie beside it. */
function shardPath(index: string, shard: string): string {
  const fail = failFor(index);
  const plain = /^[^/\\:\0]+$/.test(shard) && shard !== '.' && shard !== '..' && basename(shard) === shard;
  if (!plain) fail('shard', 'shards that are plain file names beside the index', quoted(shard));
  const path = join(dirname(index), shard);
  refusePickleName(path);
  if (!shard.endsWith('.safetensors')) fail('shard', 'shards named .safetensors', quoted(shard));
  let target: string;
  try {
    target = realpathSync(path);
  } catch (error) {
    throw new SafetensorsError(path, 'file', 'the shard that the index names', reasonOf(error));
  }
  const allowed = homes(realpathSync(dirname(index)));
  const got = `${quoted(shard)}, a link that leads out of the folder`;
  if (!allowed.includes(dirname(target))) fail('shard', 'shards that lie beside the index', got);
  return path;
}

/** Where a shard may really lie: the folder, or the blobs beside it when it is a snapshot of the Hugging Face cache. */
function homes(folder: string): string[] {
  const parent = dirname(folder);
  return basename(parent) === 'snapshots' ? [folder, resolve(parent, '..', 'blobs')] : [folder];
}

class ShardedFiles implements Weights {
  readonly names: readonly string[];
  readonly metadata: ReadonlyMap<string, string>;
  readonly #index: string;
  readonly #shardOf: ReadonlyMap<string, string>;
  readonly #shards: ReadonlyMap<string, Weights>;

  constructor(index: string, shardOf: ReadonlyMap<string, string>, shards: ReadonlyMap<string, Weights>) {
    this.names = [...shardOf.keys()];
    this.metadata = new Map([...shards.values()].flatMap((shard) => [...shard.metadata]));
    this.#index = index;
    this.#shardOf = shardOf;
    this.#shards = shards;
  }

  has(name: string): boolean {
    return this.#shardOf.has(name);
  }
  info(name: string): TensorInfo {
    return this.#shard(name).info(name);
  }
  get(name: string): Tensor {
    return this.#shard(name).get(name);
  }
  close(): void {
    for (const shard of this.#shards.values()) shard.close();
  }

  #shard(name: string): Weights {
    const shard = this.#shards.get(this.#shardOf.get(name) ?? '');
    const got = `an index of ${this.names.length} tensors without it`;
    return shard ?? failFor(this.#index)('name', `a tensor named ${quoted(name)}`, got);
  }
}
