import fs from 'node:fs';
import path from 'node:path';
import { UserError } from '../errors.ts';
import { cacheFolder } from '../text/sources.ts';
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
}

const MARK = 'complete.json';
const hubName = /^[A-Za-z0-9][\w.-]*(\/[\w][\w.-]*)?$/;
const shardName = /^[\w][\w.-]*\.safetensors$/;

export const isHubName = (name: string): boolean => hubName.test(name) && !name.includes('..');

/** A model's folder from the hub: from the cache, or downloaded there, each file checked by its hash. */
export async function fetchFromHub(name: string, options: HubOptions = {}): Promise<string> {
  const revision = options.revision ?? 'main';
  const root = path.join(options.cache ?? cacheFolder(), 'hub');
  const folder = path.join(root, name.replaceAll('/', '--'), revision.replaceAll(/[^\w.-]/g, '_'));
  if (isComplete(folder)) return folder;
  fs.mkdirSync(folder, { recursive: true });
  const endpoint = options.endpoint ?? (process.env.HF_ENDPOINT || 'https://huggingface.co');
  const transfer: HubTransfer = {
    name,
    base: `${endpoint.replace(/\/+$/, '')}/${name}/resolve/${encodeURIComponent(revision)}`,
    stallMs: options.stallMs ?? 60_000,
    attempts: options.attempts ?? 3,
    ...(options.signal ? { signal: options.signal } : {}),
    ...(options.onProgress ? { onProgress: options.onProgress } : {}),
  };
  const files: Record<string, HubFile> = {};
  const need = async (file: string) => {
    const found = await stated(transfer, file);
    if (!found)
      throw new UserError(
        `${name} has no ${file} on the hub; expected a model with config.json, tokenizer.json and safetensors weights`,
      );
    files[file] = await fetchFile(transfer, folder, file, found);
  };
  await need('config.json');
  await need('tokenizer.json');
  const settings = await stated(transfer, 'tokenizer_config.json');
  if (settings)
    files['tokenizer_config.json'] = await fetchFile(transfer, folder, 'tokenizer_config.json', settings);
  for (const file of await weightFiles(transfer, folder)) if (!files[file]) await need(file);
  fs.writeFileSync(path.join(folder, MARK), `${JSON.stringify({ name, revision, files }, null, 2)}\n`, {
    flush: true,
  });
  return folder;
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
  const strange = shards.find((shard) => !shardName.test(shard));
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

/** Whether every file that was fetched is still there in its size. */
function isComplete(folder: string): boolean {
  try {
    const { files } = JSON.parse(fs.readFileSync(path.join(folder, MARK), 'utf8')) as {
      files: Record<string, HubFile>;
    };
    return Object.entries(files).every(
      ([file, { bytes }]) => fs.statSync(path.join(folder, file)).size === bytes,
    );
  } catch {
    return false;
  }
}
