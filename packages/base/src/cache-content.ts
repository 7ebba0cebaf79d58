import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { isRunning } from './beside.ts';
import { UserError } from './errors.ts';

/** Where caches lie: HSN_CACHE, or the user's cache folder. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  return env.HSN_CACHE || path.join(env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'hsn');
}

/** What the cache holds, each kind in a folder of its name. */
export const CACHE_KINDS = [
  'vectors',
  'tokens',
  'hub',
  'converted',
  'distilled',
  'tokenizers',
  'input',
] as const;
export type CacheKind = (typeof CACHE_KINDS)[number];

/** Names that are ours, with those of unfinished writers: anything else in the folder is left alone. */
const ownNames: Record<CacheKind, RegExp> = {
  vectors: /^(?:[0-9a-f]{64}|texts-[0-9a-f]{16}-[0-9a-f]{16})\.safetensors(?:\.\d+\.[0-9a-f]+\.tmp)?$/,
  tokens: /^(?:[0-9a-f]{32}|\.[0-9a-f]{32}\.partial-\d+)$/,
  hub: /^[A-Za-z0-9][\w.%-]*$/,
  converted: /^(?:llama2c-[0-9a-f]{16}(?:\.\d+\.partial)?|\.llama2c-[0-9a-f]{16}\.partial-\d+)$/,
  distilled: /^[0-9a-f]{64}\.safetensors(?:\.\d+\.[0-9a-f]+\.tmp)?$/,
  tokenizers: /^[0-9a-f]{64}-\d+$/,
  input: /^input-\d+-\d+$/,
};
/** The process that still writes something, as its name says. */
const writer = /\.partial-(\d+)$|\.(\d+)\.[0-9a-f]+\.tmp$|\.(\d+)\.partial$|^input-(\d+)-/;

/** Something that is kept and removed as a whole: a file, or a folder. */
export interface CacheEntry {
  kind: CacheKind;
  path: string;
  files: number;
  bytes: number;
  /** When it was last read or written, in ms since 1970. */
  used: number;
}

/** What the cache holds, without what is being written now. */
export function cacheEntries(cache: string = cacheFolder()): CacheEntry[] {
  return CACHE_KINDS.flatMap((kind) => entriesOf(kind, path.join(cache, kind)));
}

function entriesOf(kind: CacheKind, folder: string): CacheEntry[] {
  return namesIn(folder)
    .filter((name) => ownNames[kind].test(name) && !isWritten(name))
    .flatMap((name) => {
      const target = path.join(folder, name);
      const measured = measure(target);
      return measured ? [{ kind, path: target, ...measured }] : [];
    });
}

function isWritten(name: string): boolean {
  const pid = writer
    .exec(name)
    ?.slice(1)
    .find((group) => group !== undefined);
  return pid !== undefined && isRunning(Number(pid));
}

/** A folder that is not there, or that another process removed just now, is empty. */
function namesIn(folder: string): string[] {
  try {
    return fs.readdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return [];
    throw new UserError(`cannot read the cache: ${(error as Error).message}; HSN_CACHE names another folder`);
  }
}

/** Links are neither followed nor ours. */
function measure(target: string): Pick<CacheEntry, 'files' | 'bytes' | 'used'> | undefined {
  const stats = fs.lstatSync(target, { throwIfNoEntry: false });
  if (stats?.isFile()) return { files: 1, bytes: stats.size, used: Math.max(stats.atimeMs, stats.mtimeMs) };
  if (!stats?.isDirectory()) return undefined;
  const sum = { files: 0, bytes: 0, used: stats.mtimeMs };
  for (const name of namesIn(target)) {
    const inner = measure(path.join(target, name));
    if (!inner) continue;
    sum.files += inner.files;
    sum.bytes += inner.bytes;
    sum.used = Math.max(sum.used, inner.used);
  }
  return sum;
}

/** Removes entries; whoever has one open reads on. */
export function removeEntries(entries: readonly CacheEntry[]): void {
  for (const { path: target } of entries)
    try {
      fs.rmSync(target, { recursive: true, force: true });
    } catch (error) {
      throw new UserError(`cannot remove from the cache: ${(error as Error).message}`);
    }
}

/** Notes that something in the cache was used, also where the disk keeps no times of reading. */
export function markUsed(file: string): void {
  try {
    fs.utimesSync(file, new Date(), fs.statSync(file).mtime);
  } catch {
    // A cache that may only be read is used all the same.
  }
}

const defaultLimit = 4096;

/** Bytes that vectors, and likewise tokens, may take: HSN_CACHE_LIMIT in MB. */
export function cacheLimit(env: NodeJS.ProcessEnv = process.env): number {
  const asked = env.HSN_CACHE_LIMIT || String(defaultLimit);
  const megabytes = Number(asked);
  if (!Number.isFinite(megabytes) || megabytes <= 0)
    throw new UserError(`HSN_CACHE_LIMIT takes a number of MB above 0, got ${asked}`);
  return megabytes * 1e6;
}

/** Removes what lies beside `kept` and was not used for longest, until all takes at most `limit` bytes. */
export function keepWithin(limit: number, kind: CacheKind, kept: string): void {
  const entries = entriesOf(kind, path.dirname(kept)).sort((a, b) => a.used - b.used);
  let bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  for (const entry of entries) {
    if (bytes <= limit) return;
    if (entry.path === kept) continue;
    removeEntries([entry]);
    bytes -= entry.bytes;
  }
}
