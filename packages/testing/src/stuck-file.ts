// A file or folder that nobody can remove, and what lets it go again.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const change = (flag: string, place: string): boolean => spawnSync('chattr', [flag, place]).status === 0;

/** Root is held back by the file system alone, others by a folder's mode. */
export function makeStuck(folder: string): () => void {
  if (process.getuid?.() !== 0) {
    fs.chmodSync(folder, 0o555);
    return () => fs.chmodSync(folder, 0o755);
  }
  if (!change('+i', folder)) throw new Error(`chattr +i does nothing in ${folder}`);
  return () => void change('-i', folder);
}

/** Why nothing can be made stuck here, where that is so. */
export function cannotStick(): string | undefined {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-stuck-'));
  try {
    makeStuck(folder)();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
