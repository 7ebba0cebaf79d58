import { createHash, webcrypto } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import { asUserError, faultCode, reasonOf, UserError } from './errors.ts';

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };

/** JSON text; a number that JSON cannot hold is an error, since it would come back as null. */
export function jsonText(value: JsonValue): string {
  const text = JSON.stringify(
    value,
    (key, inner: unknown) => {
      if (typeof inner === 'number' && !Number.isFinite(inner))
        throw new TypeError(`${key || 'the value'} is ${inner}, which JSON cannot hold`);
      return inner;
    },
    2,
  );
  return `${text}\n`;
}

/** JSON text with a hash of itself, in exactly one spelling, so that a change of any byte shows. */
export function sealedText(content: Readonly<Record<string, JsonValue>>): string {
  const sha256 = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  return jsonText({ ...content, sha256 });
}

/** The content of a sealed text; nothing where a byte differs from what `sealedText` writes for it. */
export function openSealed(text: string): Record<string, JsonValue> | undefined {
  try {
    const { sha256: _, ...content } = JSON.parse(text) as Record<string, JsonValue>;
    return text === sealedText(content) ? content : undefined;
  } catch {
    return undefined;
  }
}

/** Writes a file that lasts: synced before its name is used. The folder is synced by the caller. */
export function writeSynced(file: string, text: string): void {
  fs.writeFileSync(file, text, { flag: 'wx', flush: true });
}

/** Makes names in a folder last; some systems refuse to sync one, where there is nothing to do. */
export function syncFolder(folder: string): void {
  let descriptor: number | undefined;
  try {
    descriptor = fs.openSync(folder, 'r');
    fs.fsyncSync(descriptor);
  } catch {
    return;
  } finally {
    if (descriptor !== undefined) fs.closeSync(descriptor);
  }
}

const CHUNK = 1 << 20;

/** The rest of an open file in blocks, each valid until the next is asked for; closes the file at the end. */
export function* blocksOf(descriptor: number, size = CHUNK): Generator<Buffer> {
  try {
    const block = Buffer.allocUnsafe(size);
    for (let count = -1; count !== 0; ) {
      count = fs.readSync(descriptor, block, 0, size, null);
      if (count > 0) yield block.subarray(0, count);
    }
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Fills `into` from a place in an open file; returns how many bytes came, fewer where the file ends. */
export function readFully(descriptor: number, into: Uint8Array, position: number): number {
  let done = 0;
  for (let count = -1; count !== 0 && done < into.length; done += count)
    count = fs.readSync(descriptor, into, done, into.length - done, position + done);
  return done;
}

/** sha256 and size of a file, read in pieces. */
export function hashFile(file: string): FileSum {
  const hash = createHash('sha256');
  let size = 0;
  for (const block of blocksOf(openRegular(file))) {
    hash.update(block);
    size += block.length;
  }
  return { sha256: hash.digest('hex'), size };
}

// The same off the thread that trains: on those of the event loop.

export interface FileSum {
  sha256: string;
  size: number;
}

/** Writes a file that lasts. The folder is synced by the caller. */
export async function writeDurably(file: string, bytes: Uint8Array): Promise<void> {
  const handle = await fs.promises.open(file, 'wx');
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export async function syncFolderSoon(folder: string): Promise<void> {
  let handle: fs.promises.FileHandle | undefined;
  try {
    handle = await fs.promises.open(folder, 'r');
    await handle.sync();
  } catch {
    return;
  } finally {
    await handle?.close();
  }
}

export async function hashBytes(bytes: Uint8Array): Promise<FileSum> {
  const digest = await webcrypto.subtle.digest('SHA-256', bytes);
  return { sha256: Buffer.from(digest).toString('hex'), size: bytes.length };
}

export async function hashFileSlowly(file: string): Promise<FileSum> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of fs.createReadStream(file, { highWaterMark: CHUNK })) {
    hash.update(chunk as Buffer);
    size += (chunk as Buffer).length;
  }
  return { sha256: hash.digest('hex'), size };
}

/** Bytes of memory that this process may still take. */
export function spareMemory(): number {
  const { availableMemory } = process as { availableMemory?: () => number };
  return availableMemory?.() || os.freemem();
}

/** Bytes that this user may still write to the disk of a folder. */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = fs.statfsSync(folder);
  return bavail * bsize;
}

/** A single write may take only a part, as on a disk that is nearly full. Returns how many bytes were written. */
export function writeAll(file: number, content: string | Uint8Array): number {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  for (let done = 0; done < bytes.length; ) done += fs.writeSync(file, bytes, done);
  return bytes.length;
}

// Reading what others may have put there.

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
export const readText = (file: string): string =>
  asUserError(
    () => readRegular(file).toString('utf8'),
    (reason) => `cannot read ${file}: ${reason}`,
  );

/** What an entry of a folder is, for people. */
export function kindOf(stat: fs.Stats): string {
  if (stat.isSymbolicLink()) return 'a symbolic link';
  if (stat.isFile()) return 'a file';
  if (stat.isDirectory()) return 'a folder';
  if (stat.isFIFO()) return 'a named pipe';
  return stat.isSocket() ? 'a socket' : 'a device';
}

// The one reader of a run's JSON: whoever needs such a file asks here.

/** Deeper than anything that is written, and shallow enough for whatever walks through it. */
const DEEPEST = 64;

/** A JSON file that must be there: a regular one, of bounded size, in which every key stands once. */
export const readJsonFile = <T = JsonValue>(file: string): T => parseJson<T>(readText(file), file);

/** The same for a file that need not be there. */
export function readJsonIfThere<T = JsonValue>(file: string): T | undefined {
  try {
    return readJsonFile<T>(file);
  } catch (error) {
    if (faultCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** JSON text of a file; keys that stand twice, or that are no plain ones, are faults of it. */
export function parseJson<T = JsonValue>(text: string, file: string, { anyKey = false } = {}): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UserError(`${file} is damaged: expected JSON, got ${reasonOf(error)}`);
  }
  const fault = keyFault(text, anyKey);
  if (fault !== undefined) throw new UserError(`${file} is damaged: ${fault}`);
  return value as T;
}

/** What JSON.parse lets pass: of two equal keys it keeps the last, and __proto__ it takes for a name like any other. */
function keyFault(text: string, anyKey: boolean): string | undefined {
  // Keys of the objects that are open; null stands for an array.
  const open: (Set<string> | null)[] = [];
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (letter === '{' || letter === '[') open.push(letter === '{' ? new Set() : null);
    else if (letter === '}' || letter === ']') open.pop();
    if (open.length > DEEPEST) return `expected at most ${DEEPEST} levels, got more`;
    if (letter !== '"') continue;
    const end = stringEnd(text, at);
    const keys = open.at(-1);
    if (keys && isKey(text, end)) {
      const raw = text.slice(at + 1, end);
      const key = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
      if (key === '__proto__' && !anyKey) return 'expected plain keys, got "__proto__"';
      if (keys.has(key)) return `expected every key once, got ${JSON.stringify(key).slice(0, 80)} twice`;
      keys.add(key);
    }
    at = end;
  }
  return undefined;
}

/** Where a string that begins at `start` has its closing quote; the text is known to be JSON. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at;
  }
}

function isKey(text: string, end: number): boolean {
  let at = end + 1;
  while (' \n\r\t'.includes(text[at] ?? 'x')) at++;
  return text[at] === ':';
}
