import os from 'node:os';
import { loadPlain } from './native.ts';

interface LockAddon {
  /** Takes the lock of an open file, or only looks; 0 where it is free, else the system's number of the fault. */
  lockFile(descriptor: number, take: boolean): number;
}

let addon: LockAddon | undefined;

/** What the kernel says of a lock: free (and now ours, if it was asked for), held by another, or why it cannot tell. */
export type FileLock = 'free' | 'held' | { readonly fault: string };

/**
 * Takes the lock of a file that is open for writing, without waiting. The kernel frees it when the descriptor is closed,
 * also when it is closed because the process was killed. A child process does not inherit it.
 */
export function lockFile(descriptor: number): FileLock {
  return asked(descriptor, true);
}

/** Whether another descriptor holds the lock of a file; also one of this process. */
export function fileLock(descriptor: number): FileLock {
  return asked(descriptor, false);
}

function asked(descriptor: number, take: boolean): FileLock {
  addon ??= loadPlain('lock') as LockAddon;
  const fault = addon.lockFile(descriptor, take);
  if (fault === 0) return 'free';
  if (fault === os.constants.errno.EAGAIN) return 'held';
  const known = Object.entries(os.constants.errno).find(([, number]) => number === fault);
  return { fault: known?.[0] ?? `error ${fault}` };
}
