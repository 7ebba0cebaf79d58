import { randomInt } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { isMainThread, threadId } from 'node:worker_threads';
import { reasonOf, UserError } from './errors.ts';
import { type JsonValue, jsonText, syncFolder } from './files.ts';

/** Threads share the number of their process. */
const own = isMainThread ? `${process.pid}` : `${process.pid}-${threadId}`;

/** Where this process writes what is to become `target`. */
export const partialName = (target: string): string =>
  path.join(path.dirname(target), `.${path.basename(target)}.partial-${own}`);

/** What becomes of a folder that has the name already: the new one takes its place, or it stays and the new one goes. */
type OnConflict = 'replaced' | 'kept';

/**
 * Writes what is to become `target`, a file or a folder, beside it, and moves it there once all is written. After a fault
 * nothing of it is left, and what had the name before still has it.
 */
export function writeBeside<T>(
  target: string,
  write: (partial: string) => T,
  { partial = partialName(target), standing }: { partial?: string; standing?: OnConflict } = {},
): T {
  const moved = <R>(result: R): R => {
    moveIntoPlace(partial, target, standing);
    return result;
  };
  const removed = (error: unknown): never => {
    fs.rmSync(partial, { recursive: true, force: true });
    throw error;
  };
  try {
    const result = write(partial);
    return result instanceof Promise ? (result.then(moved).catch(removed) as T) : moved(result);
  } catch (error) {
    return removed(error);
  }
}

/** Gives what was written beside `target` its name, for good. */
export function moveIntoPlace(partial: string, target: string, standing: OnConflict = 'replaced'): void {
  const old = takeName(partial, target, { standing });
  syncFolder(path.dirname(target));
  if (old !== undefined) fs.rmSync(old, { recursive: true, force: true });
}

/**
 * The renames of it alone: a folder that has the name goes aside first, and comes back on a fault. Returns where the old
 * folder lies now, which the caller removes once the folder above is synced.
 */
export function takeName(
  partial: string,
  target: string,
  { standing = 'replaced', aside = `${partial}-old` }: { standing?: OnConflict; aside?: string } = {},
): string | undefined {
  // One rename replaces a file; a folder that is not empty refuses it, and a file never takes a folder's place.
  const replaced = standing === 'replaced' && isFolder(target) && isFolder(partial);
  if (replaced) fs.renameSync(target, aside);
  try {
    fs.renameSync(partial, target);
  } catch (error) {
    if (replaced) fs.renameSync(aside, target);
    // Another process may have made the same meanwhile.
    if (standing !== 'kept' || !fs.existsSync(target)) throw error;
    fs.rmSync(partial, { recursive: true, force: true });
  }
  return replaced ? aside : undefined;
}

/** Whether there is a folder of this name. */
export const isFolder = (file: string): boolean =>
  fs.statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** Replaces a file whole or not at all, whatever ends the process. */
export function writeFileAtomic(file: string, content: string | Uint8Array): void {
  // A number of its own: threads share that of their process, and containers may have the same.
  const name = `.${path.basename(file)}.${process.pid}${randomInt(1e9, 1e10)}.tmp`;
  const write = (partial: string) => fs.writeFileSync(partial, content, { flag: 'wx', flush: true });
  try {
    writeBeside(file, write, { partial: path.join(path.dirname(file), name) });
  } catch (error) {
    throw new UserError(`cannot write ${file}: ${reasonOf(error)}; what was there is unchanged`);
  }
}

export function writeJsonAtomic(file: string, value: JsonValue): void {
  writeFileAtomic(file, jsonText(value));
}

/** Temporary files in a folder that a killed writer left. */
export function removeTemporaries(folder: string): void {
  for (const name of fs.readdirSync(folder))
    if (/^\..+\.\d+\.tmp$/.test(name)) fs.rmSync(path.join(folder, name), { force: true });
}

/** What a writer that was killed left; one that still runs keeps its own. */
export function removeStalePartials(target: string): void {
  const prefix = `.${path.basename(target)}.partial-`;
  for (const name of fs.readdirSync(path.dirname(target))) {
    const writer = name.startsWith(prefix) ? name.slice(prefix.length) : '';
    const pid = Number(/^\d+/.exec(writer)?.[0] ?? Number.NaN);
    if (Number.isNaN(pid) || pid < 1 || (writer !== own && isRunning(pid))) continue;
    fs.rmSync(path.join(path.dirname(target), name), { recursive: true, force: true });
  }
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
