import { createHash, webcrypto } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import { openRegular } from './regular-file.ts';

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

/** sha256 and size of a file, read in pieces. */
export function hashFile(file: string): FileSum {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(CHUNK);
  const descriptor = openRegular(file);
  try {
    let size = 0;
    for (;;) {
      const count = fs.readSync(descriptor, buffer, 0, CHUNK, null);
      if (count === 0) return { sha256: hash.digest('hex'), size };
      hash.update(buffer.subarray(0, count));
      size += count;
    }
  } finally {
    fs.closeSync(descriptor);
  }
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
