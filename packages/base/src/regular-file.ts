import fs from 'node:fs';
import { reasonOf, UserError } from './errors.ts';

const { O_RDONLY } = fs.constants;
/** Without it, opening a named pipe waits for whoever writes to it; Windows has neither. */
const O_NONBLOCK = fs.constants.O_NONBLOCK ?? 0;
const O_NOFOLLOW = fs.constants.O_NOFOLLOW ?? 0;

export interface OpenFlags {
  /** More for open(2), such as O_RDWR | O_CREAT; reading only unless given. */
  flags?: number;
  /** Whether a symbolic link is followed; true unless given. */
  follow?: boolean;
}

/** More than any file of settings, state, figures or links has, and less than a string can hold. */
const MOST_BYTES = 256 * 2 ** 20;

/** Opens a file, only if it is one: a pipe, a device or a folder would block, never end, or make no sense. */
export function openRegular(file: string, { flags = O_RDONLY, follow = true }: OpenFlags = {}): number {
  let descriptor: number;
  try {
    descriptor = fs.openSync(file, flags | O_NONBLOCK | (follow ? 0 : O_NOFOLLOW));
  } catch (error) {
    if (!follow && isLink(file)) throw notRegular(file, 'a symbolic link');
    throw error;
  }
  const stat = fs.fstatSync(descriptor);
  if (stat.isFile()) return descriptor;
  fs.closeSync(descriptor);
  throw notRegular(file, kindOf(stat));
}

const isLink = (file: string): boolean =>
  fs.lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;

const notRegular = (file: string, kind: string): UserError =>
  new UserError(`${file} is ${kind}; expected a regular file, so remove or rename it`);

/** The bytes of a regular file; what the system says of one that cannot be opened is thrown as it is. */
export function readRegular(file: string, limit = MOST_BYTES, open: OpenFlags = {}): Buffer {
  const descriptor = openRegular(file, open);
  try {
    const { size } = fs.fstatSync(descriptor);
    if (size > limit) throw new UserError(`${file} has ${size} bytes; expected at most ${limit}`);
    return fs.readFileSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

/** The text of a file that must be there. */
export function readText(file: string): string {
  try {
    return readRegular(file).toString('utf8');
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`cannot read ${file}: ${reasonOf(error)}`);
  }
}

/** What an entry of a folder is, for people. */
export function kindOf(stat: fs.Stats): string {
  if (stat.isSymbolicLink()) return 'a symbolic link';
  if (stat.isFile()) return 'a file';
  if (stat.isDirectory()) return 'a folder';
  if (stat.isFIFO()) return 'a named pipe';
  return stat.isSocket() ? 'a socket' : 'a device';
}
