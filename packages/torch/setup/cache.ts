import { createHash } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Libtorch } from './find.ts';
import { libraryFile, type Machine } from './machine.ts';

/** How many built files are kept, those of the last installs. */
const kept = 18;

/** Names a built file by what it was made of: sources and flags (`hash`), the compiler, and libtorch itself. */
export function cacheKey(machine: Machine, hash: string, compiler: string, libtorch: Libtorch): string {
  const libraries = libtorch.libDirs.map((dir) =>
    machine.stamp(join(dir, libraryFile(machine, 'torch_cpu'))),
  );
  const parts = [hash, machine.env.CXX ?? '', compiler, ...libraries];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** Copies a file built earlier to `to`; false where there is none. */
export async function takeBuilt(cache: string, key: string, to: string): Promise<boolean> {
  const from = join(cache, key);
  try {
    await copyFile(from, to);
    await utimes(from, new Date(), new Date());
    return true;
  } catch {
    return false;
  }
}

/** Keeps a built file for the next install. */
export async function keepBuilt(cache: string, key: string, file: string): Promise<void> {
  await mkdir(cache, { recursive: true });
  const work = await mkdtemp(join(cache, 'partial-'));
  try {
    const part = join(work, key);
    await copyFile(file, part);
    await rename(part, join(cache, key));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  await dropOldest(cache);
}

/** Forgets a file that turned out not to load. */
export async function forgetBuilt(cache: string, key: string): Promise<void> {
  await rm(join(cache, key), { force: true });
}

async function dropOldest(cache: string): Promise<void> {
  const names = (await readdir(cache)).filter((name) => /^[0-9a-f]{64}$/.test(name));
  const used = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(join(cache, name))).mtimeMs })),
  );
  used.sort((a, b) => b.at - a.at);
  await Promise.all(used.slice(kept).map(({ name }) => rm(join(cache, name), { force: true })));
}
