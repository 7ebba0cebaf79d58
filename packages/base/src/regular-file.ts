import fs from 'node:fs';
import { reasonOf, UserError } from './errors.ts';

const { O_RDONLY } = fs.constants;
/** Without it, opening a named pipe waits for whoever writes to it; Windows has neither. */
const O_NONBLOCK = fs.constants.O_NONBLOCK ?? 0;

/** More than any file of settings, state, figures or links has, and less than a string can hold. */
const MOST_BYTES = 256 * 2 ** 20;

/** Opens a file to read, only if it is one: a pipe, a device or a folder would block, never end, or make no sense. */
export function openRegular(file: string): number {
  const descriptor = fs.openSync(file, O_RDONLY | O_NONBLOCK);
  const stat = fs.fstatSync(descriptor);
  if (stat.isFile()) return descriptor;
  fs.closeSync(descriptor);
  throw new UserError(`${file} is ${kindOf(stat)}; expected a regular file, so remove or rename it`);
}

/** The bytes of a regular file; what the system says of one that cannot be opened is thrown as it is. */
export function readRegular(file: string, limit = MOST_BYTES): Buffer {
  const descriptor = openRegular(file);
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

function kindOf(stat: fs.Stats): string {
  if (stat.isDirectory()) return 'a folder';
  if (stat.isFIFO()) return 'a named pipe';
  return stat.isSocket() ? 'a socket' : 'a device';
}
