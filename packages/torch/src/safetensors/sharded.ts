import { type Buffer, isUtf8 } from 'node:buffer';
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { reasonOf } from '@hidden-schema/base';
import type { Tensor } from '../tensor.ts';
import { failFor, quoted, SafetensorsError } from './errors.ts';
import type { TensorInfo } from './header.ts';
import { JsonCursor } from './json.ts';
import { maxHeaderBytes, maxTensors } from './layout.ts';
import { hasPickleName, refusePickleName } from './pickle.ts';
import { openSafetensors, type Weights } from './reader.ts';

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
  if (!allowed.includes(dirname(target)))
    fail(
      'shard',
      'shards that lie beside the index',
      `${quoted(shard)}, a link that leads out of the folder`,
    );
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
