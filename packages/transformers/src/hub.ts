import fs from 'node:fs';
import path from 'node:path';
import { cacheFolder, markUsed, UserError } from '@hidden-schema/base';
import {
  checkHubNames,
  hubFolder,
  isComplete,
  isFileName,
  lockOrReady,
  MARK,
  makeFolder,
  markComplete,
} from './hub-cache.ts';
import { download, type HubFile, type HubTransfer, matches, stated } from './hub-transfer.ts';

export interface HubOptions {
  revision?: string;
  /** Folder of the cache; HSN_CACHE or the user's cache folder unless given. */
  cache?: string;
  /** Where the hub is; HF_ENDPOINT or the public one unless given. */
  endpoint?: string;
  signal?: AbortSignal;
  onProgress?: (file: string, bytes: number, total: number) => void;
  /** How long a server may be silent. */
  stallMs?: number;
  attempts?: number;
  /** How long another process that downloads the same may make no progress. */
  patienceMs?: number;
  /** Told when another process downloads the same and is waited for; standard error unless given. */
  onWait?: (line: string) => void;
}

const shardName = /\.safetensors$/;

/**
 * A model's folder from the hub: from the cache, or downloaded there, each file checked by its hash. Of several processes
 * that want the same one downloads, and the others wait.
 */
export async function fetchFromHub(name: string, options: HubOptions = {}): Promise<string> {
  const revision = options.revision ?? 'main';
  const endpoint = options.endpoint ?? (process.env.HF_ENDPOINT || 'https://huggingface.co');
  checkHubNames(name, revision, endpoint);
  const folder = path.join(options.cache ?? cacheFolder(), 'hub', ...hubFolder(name, revision));
  const ready = () => isComplete(folder, name, revision);
  if (await ready()) {
    markUsed(path.join(folder, MARK));
    return folder;
  }
  makeFolder(folder, name);
  const { signal, onProgress, patienceMs = 600_000, onWait = sayWaiting } = options;
  const { stallMs = 60_000, attempts = 3 } = options;
  const waiting = { patienceMs, onWait, signal };
  const lock = await lockOrReady(folder, `the download of ${name}`, ready, waiting);
  if (!lock) return folder;
  try {
    const base = `${endpoint.replace(/\/+$/, '')}/${name}/resolve/${encodeURIComponent(revision)}`;
    const transfer: HubTransfer = { name, base, stallMs, attempts, signal, onProgress };
    markComplete(folder, { name, revision }, await fetchAll(transfer, folder));
  } finally {
    lock.release();
  }
  return folder;
}

/** A process that only waits would look as if it hung. */
const sayWaiting = (line: string): void => void process.stderr.write(`${line}\n`);

async function fetchAll(transfer: HubTransfer, folder: string): Promise<Record<string, HubFile>> {
  const files: Record<string, HubFile> = {};
  const need = async (file: string) => {
    const found = await stated(transfer, file);
    if (!found)
      throw new UserError(
        `${transfer.name} has no ${file} on the hub; expected a model with config.json, tokenizer.json and safetensors weights`,
      );
    files[file] = await fetchFile(transfer, folder, file, found);
  };
  await need('config.json');
  await need('tokenizer.json');
  const settings = await stated(transfer, 'tokenizer_config.json');
  if (settings)
    files['tokenizer_config.json'] = await fetchFile(transfer, folder, 'tokenizer_config.json', settings);
  for (const file of await weightFiles(transfer, folder)) if (!files[file]) await need(file);
  return files;
}

/** The names of the weight files: one, or an index and its shards; pickles are refused before anything large comes. */
async function weightFiles(transfer: HubTransfer, folder: string): Promise<string[]> {
  if (await stated(transfer, 'model.safetensors')) return ['model.safetensors'];
  const index = 'model.safetensors.index.json';
  const found = await stated(transfer, index);
  if (!found) {
    const pickle = await stated(transfer, 'pytorch_model.bin');
    throw new UserError(
      pickle
        ? `${transfer.name} has its weights only as a Python pickle (pytorch_model.bin), which can run any code when it is loaded and is never read here; convert it to safetensors in Python and give the folder`
        : `${transfer.name} has no model.safetensors on the hub; expected weights as safetensors`,
    );
  }
  await fetchFile(transfer, folder, index, found);
  const { weight_map: map } = JSON.parse(fs.readFileSync(path.join(folder, index), 'utf8')) as {
    weight_map?: Record<string, string>;
  };
  const shards = [...new Set(Object.values(map ?? {}))];
  const strange = shards.find((shard) => !(isFileName(shard) && shardName.test(shard)));
  if (shards.length === 0 || strange !== undefined)
    throw new UserError(
      `${transfer.name}: ${index} names ${strange ? JSON.stringify(strange) : 'no shards'}; expected .safetensors files beside it`,
    );
  return [index, ...shards];
}

async function fetchFile(
  transfer: HubTransfer,
  folder: string,
  file: string,
  found: HubFile,
): Promise<HubFile> {
  const target = path.join(folder, file);
  if (!(fs.existsSync(target) && (await matches(target, found))))
    await download(transfer, file, found, target);
  return found;
}
