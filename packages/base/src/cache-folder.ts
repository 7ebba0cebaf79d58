import os from 'node:os';
import path from 'node:path';

/** Where caches lie: HSN_CACHE, or the user's cache folder. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  return env.HSN_CACHE || path.join(env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'hsn');
}
