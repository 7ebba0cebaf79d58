import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { UserError } from '../errors.ts';
import { reasonOf } from './files.ts';
import { readText } from './regular-file.ts';

/** Who holds a lock. The start time tells a process from a later one with the same number. */
export interface LockHolder {
  pid: number;
  /** When the process started, in the system's own terms; absent where the system does not tell. */
  start?: string;
  host: string;
  /** ISO time at which the lock was taken. */
  since: string;
}

/** A lock of another machine counts as left behind when untouched for this long. */
const FOREIGN_STALE_MS = 10 * 60_000;
const REFRESH_MS = 30_000;

/** A file that keeps a second process out of a folder. */
export class Lock {
  readonly file: string;
  /** Of whom the lock was left behind by a process that ended, if it was. */
  readonly recoveredFrom: LockHolder | undefined;
  readonly #content: string;
  #refreshed = Date.now();

  private constructor(file: string, content: string, recoveredFrom: LockHolder | undefined) {
    this.file = file;
    this.#content = content;
    this.recoveredFrom = recoveredFrom;
  }

  /** Takes the lock, or throws with the holder's number; `what` names the folder to the user. */
  static acquire(file: string, what: string): Lock {
    const content = `${JSON.stringify(ourselves())}\n`;
    let left: LockHolder | undefined;
    for (let attempt = 0; attempt < 10; attempt++) {
      if (create(file, content)) return new Lock(file, content, left);
      const found = read(file);
      if (found === undefined) continue;
      if (found.holder && isHeld(found.holder, found.touched)) throw refusal(found.holder, file, what);
      if (removeStale(file, found.text)) left = found.holder;
    }
    throw new UserError(`cannot lock ${what}: other processes keep taking ${file}; try again`);
  }

  /** Shows other machines that the holder lives; cheap enough to call at every step. */
  refresh(): void {
    const now = Date.now();
    if (now - this.#refreshed < REFRESH_MS) return;
    this.#refreshed = now;
    try {
      fs.utimesSync(this.file, new Date(now), new Date(now));
    } catch (error) {
      throw new UserError(`the lock ${this.file} was lost (${reasonOf(error)}); was the folder removed?`);
    }
  }

  /** Gives the lock back; one that another process holds by now stays. */
  release(): void {
    if (read(this.file)?.text === this.#content) fs.rmSync(this.file, { force: true });
  }
}

/** Who holds the lock now, if anyone does. */
export function lockHolder(file: string): LockHolder | undefined {
  const found = read(file);
  return found?.holder && isHeld(found.holder, found.touched) ? found.holder : undefined;
}

function ourselves(): LockHolder {
  const start = processStart(process.pid);
  return {
    pid: process.pid,
    ...(start === undefined ? {} : { start }),
    host: os.hostname(),
    since: new Date().toISOString(),
  };
}

/** A link to a file that is already written: the lock is never seen half made. */
function create(file: string, content: string): boolean {
  const draft = path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}.tmp`);
  try {
    fs.writeFileSync(draft, content);
    fs.linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw new UserError(`cannot write the lock ${file}: ${reasonOf(error)}`);
  } finally {
    fs.rmSync(draft, { force: true });
  }
}

function read(file: string): { text: string; touched: number; holder: LockHolder | undefined } | undefined {
  let text: string;
  let touched: number;
  try {
    touched = fs.statSync(file).mtimeMs;
    text = readText(file);
  } catch {
    return undefined;
  }
  try {
    const holder = JSON.parse(text) as LockHolder;
    const known = Number.isInteger(holder?.pid) && holder.pid > 0 && typeof holder.host === 'string';
    return { text, touched, holder: known ? holder : undefined };
  } catch {
    // Damaged, as after a power cut: nobody can hold it.
    return { text, touched, holder: undefined };
  }
}

/** Moved away first: of two that recover at once only one gets the file, and a fresh lock is put back. */
function removeStale(file: string, text: string): boolean {
  const aside = `${file}.stale-${process.pid}`;
  try {
    fs.renameSync(file, aside);
    const ours = fs.readFileSync(aside, 'utf8') === text;
    if (!ours) fs.linkSync(aside, file);
    return ours;
  } catch {
    return false;
  } finally {
    fs.rmSync(aside, { force: true });
  }
}

function isHeld({ pid, start, host }: LockHolder, touched: number): boolean {
  if (host !== os.hostname()) return Date.now() - touched < FOREIGN_STALE_MS;
  if (!isRunning(pid)) return false;
  const now = processStart(pid);
  return start === undefined || now === undefined || now === start;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Boot and clock tick at which a process started (Linux); a zombie has ended, whatever its number says. */
function processStart(pid: number): string | undefined {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold anything, so fields are counted after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return 'ended';
    const boot = fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return fields[19] === undefined ? undefined : `${boot}:${fields[19]}`;
  } catch {
    return undefined;
  }
}

function refusal({ pid, host, since }: LockHolder, file: string, what: string): UserError {
  const where = host === os.hostname() ? '' : ` on ${host}`;
  return new UserError(
    `${what} is in use by process ${pid}${where} since ${since}; wait for it, choose another folder, or remove ${file} if that process is gone`,
  );
}
