import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { UserError } from '@hidden-schema/base';
import { Lock } from '@hidden-schema/torch';

export interface WaitOptions {
  /** How long the process that downloads may make no progress while others wait for it. */
  patienceMs: number;
  signal?: AbortSignal;
  /** Told once, when there is someone to wait for. */
  onWait: (line: string) => void;
}

const SLOWEST_POLL_MS = 1000;

/**
 * The lock of a folder, once nobody else has it. Until then `ready` is asked whether there is still anything to do: then
 * nothing is returned. The lock of a process that was killed is free.
 */
export async function lockOrReady(
  folder: string,
  what: string,
  ready: () => Promise<boolean>,
  options: WaitOptions,
): Promise<Lock | undefined> {
  let notified = false;
  let before = -1;
  let since = Date.now();
  for (let pollMs = 50; ; pollMs = Math.min(SLOWEST_POLL_MS, 2 * pollMs)) {
    options.signal?.throwIfAborted();
    const lock = tryLock(`${folder}.lock`, what);
    // Asked under the lock too: whoever had it may just have finished.
    if (lock instanceof Lock && !(await readyOrRelease(lock, ready))) return lock;
    if (lock instanceof Lock || (await ready())) return undefined;
    const bytes = bytesIn(folder);
    if (bytes !== before) since = Date.now();
    before = bytes;
    if (Date.now() - since > options.patienceMs)
      throw new UserError(
        `gave up waiting after ${Math.round(options.patienceMs / 1000)} s without progress: ${lock.message}`,
      );
    if (!notified) options.onWait(`waiting: ${lock.message.split(';')[0]}`);
    notified = true;
    await pause(pollMs, undefined, options.signal ? { signal: options.signal } : {});
  }
}

function tryLock(file: string, what: string): Lock | UserError {
  try {
    return Lock.acquire(file, what);
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
}

async function readyOrRelease(lock: Lock, ready: () => Promise<boolean>): Promise<boolean> {
  let done = true;
  try {
    done = await ready();
  } finally {
    if (done) lock.release();
  }
  return done;
}

/** Grows while a download goes on. */
function bytesIn(folder: string): number {
  const size = (name: string): number =>
    fs.statSync(path.join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
  return fs.readdirSync(folder).reduce((sum, name) => sum + size(name), 0);
}
