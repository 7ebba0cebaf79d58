import fs from 'node:fs';
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { asUserError, openRegular, readRegular, UserError } from '@hidden-schema/base';
import { loadPlain } from './native.ts';

/** Who holds a lock: for people to read, since the kernel alone decides. */
export interface LockHolder {
  pid: number;
  host: string;
  /** ISO time at which the lock was taken. */
  since: string;
}

/** Goes on where a file system has no locks; for a user who is sure that nothing else writes to the folder. */
const WITHOUT = 'HSN_NO_LOCK';
const ATTEMPTS = 20;
const PAUSE_MS = 20;
const WAIT_MS = 30_000;
/** Bytes that a lock's file has at most. */
const LONGEST = 1 << 16;

/**
 * Keeps other processes out of a folder, on this machine, in its containers and on others that share the file system.
 * The kernel holds it on an open file and frees it when the process ends, however it ends. The file itself is never
 * removed: a lock on a removed file would keep nobody out.
 */
export class Lock {
  readonly file: string;
  /** Of whom the lock was left behind by a process that ended, if it was. */
  readonly recoveredFrom: LockHolder | undefined;
  readonly #what: string;
  #descriptor: number | undefined;

  private constructor(file: string, what: string, { descriptor, left }: Taken) {
    this.file = file;
    this.#what = what;
    this.#descriptor = descriptor;
    this.recoveredFrom = left;
  }

  /** Takes the lock, or throws with who holds it; `what` names the folder to the user. */
  static acquire(file: string, what: string): Lock {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const taken = take(file, what);
      if (taken) return new Lock(file, what, taken);
      // Named by nobody: somebody is just taking it, giving it back or looking at it.
      if (holderIn(file) !== undefined) break;
      pause();
    }
    throw refusal(holderIn(file), what);
  }

  /** Takes the lock once it is free, within half a minute, while others of this process go on. */
  static async wait(file: string, what: string): Promise<Lock> {
    for (const until = performance.now() + WAIT_MS; ; await sleep(PAUSE_MS)) {
      const lock = Lock.#taken(file, what, until);
      if (lock) return lock;
    }
  }

  /** Waits its turn for something short; `what` is to be changed. */
  static during<T>(file: string, what: string, body: () => T): T {
    const until = performance.now() + WAIT_MS;
    let lock = Lock.#taken(file, what, until);
    for (; !lock; lock = Lock.#taken(file, what, until)) pause();
    try {
      return body();
    } finally {
      lock.release();
    }
  }

  /** The lock where it is free; nothing where it is not, until the time is over. */
  static #taken(file: string, what: string, until: number): Lock | undefined {
    const taken = take(file, what);
    if (taken) return new Lock(file, what, taken);
    if (performance.now() >= until) throw refusal(holderIn(file), what);
    return undefined;
  }

  /** Makes sure that the lock still keeps others out, though its file was removed; cheap enough for every step. */
  refresh(): void {
    if (this.#descriptor === undefined || isAt(this.file, this.#descriptor)) return;
    const again = take(this.file, this.#what);
    if (!again) throw refusal(holderIn(this.file), this.#what);
    fs.closeSync(this.#descriptor);
    this.#descriptor = again.descriptor;
  }

  /** Gives the lock back. */
  release(): void {
    if (this.#descriptor === undefined) return;
    try {
      fs.ftruncateSync(this.#descriptor);
    } finally {
      fs.closeSync(this.#descriptor);
      this.#descriptor = undefined;
    }
  }
}

/** Who holds the lock now, if anyone does; what is not known of the holder is left out. */
export function lockHolder(file: string): Partial<LockHolder> | undefined {
  let descriptor: number;
  try {
    descriptor = openRegular(file, { follow: false });
  } catch {
    return undefined;
  }
  try {
    const found = lockOf(descriptor, false);
    if (found === 'free') return undefined;
    // Where there are no locks, nobody knows more than the file says.
    return found === 'held' ? (holderIn(file) ?? {}) : holderIn(file);
  } finally {
    fs.closeSync(descriptor);
  }
}

interface Taken {
  descriptor: number;
  left: LockHolder | undefined;
}

/** The lock, on the file that has its name now; nothing where another holds it. */
function take(file: string, what: string): Taken | undefined {
  const descriptor = opened(file);
  let kept = false;
  try {
    const answer = lockOf(descriptor, true);
    if (answer === 'held') return undefined;
    if (answer !== 'free' && process.env[WITHOUT] !== '1') throw noLocks(file, what, answer.fault);
    if (!isAt(file, descriptor)) return undefined;
    const left = holderIn(file);
    const ourselves = { pid: process.pid, host: os.hostname(), since: new Date().toISOString() };
    fs.ftruncateSync(descriptor);
    fs.writeSync(descriptor, `${JSON.stringify(ourselves)}\n`, 0);
    kept = true;
    return { descriptor, left };
  } finally {
    if (!kept) fs.closeSync(descriptor);
  }
}

/** Never through a link, since the file is emptied. Node closes it in child processes, which must not keep the lock. */
const opened = (file: string): number =>
  asUserError(
    () => openRegular(file, { flags: fs.constants.O_RDWR | fs.constants.O_CREAT, follow: false }),
    (reason) => `cannot write the lock ${file}: ${reason}`,
  );

/** Whether a name still stands for an open file. */
function isAt(file: string, descriptor: number): boolean {
  const there = fs.lstatSync(file, { bigint: true, throwIfNoEntry: false });
  const own = fs.fstatSync(descriptor, { bigint: true });
  return there !== undefined && there.ino === own.ino && there.dev === own.dev;
}

function holderIn(file: string): LockHolder | undefined {
  try {
    const { pid, host, since } = JSON.parse(
      readRegular(file, LONGEST, { follow: false }).toString('utf8'),
    ) as LockHolder;
    const known = Number.isInteger(pid) && pid > 0 && typeof host === 'string';
    return known ? { pid, host, since: String(since) } : undefined;
  } catch {
    // Empty when nobody holds it; damaged, as after a power cut.
    return undefined;
  }
}

function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
}

function refusal(holder: LockHolder | undefined, what: string): UserError {
  const elsewhere = holder && holder.host !== os.hostname() ? ` on ${holder.host}` : '';
  const who = holder ? `process ${holder.pid}${elsewhere} since ${holder.since}` : 'another process';
  return new UserError(`${what} is in use by ${who}; wait for it, end it, or choose another folder`);
}

function noLocks(file: string, what: string, fault: string): UserError {
  return new UserError(
    `cannot lock ${what}: the file system of ${file} has no locks (${fault}), so a second process could not be kept out; choose a folder on another disk, or set ${WITHOUT}=1 if you are sure that there is none`,
  );
}

interface LockAddon {
  /** Takes the lock of an open file, or only looks; 0 where it is free, else the system's number of the fault. */
  lockFile(descriptor: number, take: boolean): number;
}

let addon: LockAddon | undefined;

/** What the kernel says of a lock: free (and now ours, if it was asked for), held by another, or why it cannot tell. */
type FileLock = 'free' | 'held' | { readonly fault: string };

/**
 * Takes the lock of a file that is open for writing, without waiting, or only looks whether another descriptor holds it. The
 * kernel frees it when the descriptor is closed, also when it is closed because the process was killed. A child process does
 * not inherit it.
 */
function lockOf(descriptor: number, take: boolean): FileLock {
  addon ??= loadPlain('lock') as LockAddon;
  const fault = addon.lockFile(descriptor, take);
  if (fault === 0) return 'free';
  if (fault === os.constants.errno.EAGAIN) return 'held';
  const known = Object.entries(os.constants.errno).find(([, number]) => number === fault);
  return { fault: known?.[0] ?? `error ${fault}` };
}
