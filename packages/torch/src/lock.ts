import fs from 'node:fs';
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { openRegular, readRegular, reasonOf, UserError } from '@hidden-schema/base';
import { fileLock, lockFile } from './file-lock.ts';

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
    const until = performance.now() + WAIT_MS;
    let taken = take(file, what);
    for (; !taken && performance.now() < until; taken = take(file, what)) await sleep(PAUSE_MS);
    if (!taken) throw refusal(holderIn(file), what);
    return new Lock(file, what, taken);
  }

  /** Waits its turn for something short; `what` is to be changed. */
  static during<T>(file: string, what: string, body: () => T): T {
    const until = performance.now() + WAIT_MS;
    let taken = take(file, what);
    for (; !taken && performance.now() < until; taken = take(file, what)) pause();
    if (!taken) throw refusal(holderIn(file), what);
    const lock = new Lock(file, what, taken);
    try {
      return body();
    } finally {
      lock.release();
    }
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
    const found = fileLock(descriptor);
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
    const answer = lockFile(descriptor);
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
function opened(file: string): number {
  try {
    return openRegular(file, { flags: fs.constants.O_RDWR | fs.constants.O_CREAT, follow: false });
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`cannot write the lock ${file}: ${reasonOf(error)}`);
  }
}

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
