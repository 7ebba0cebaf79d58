import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { cacheFolder, UserError } from '@hidden-schema/base';

/** Bytes that a discovery keeps in memory before it turns to the disk. */
export const scratchMemory = 256 << 20;

/** Bytes put down on disk while a process lives: the file has no name, so nothing is left however it ends. */
export class Scratch {
  #descriptor: number | undefined;
  #end = 0;

  /** Where the bytes were put. */
  append(bytes: Uint8Array): number {
    this.#descriptor ??= unnamedFile();
    const place = this.#end;
    try {
      for (let done = 0; done < bytes.length; )
        done += fs.writeSync(this.#descriptor, bytes, done, bytes.length - done, place + done);
    } catch (error) {
      throw new UserError(
        `points of texts do not fit on the disk (${(error as Error).message}); free some, or name another folder with HSN_CACHE`,
      );
    }
    this.#end += bytes.length;
    return place;
  }

  read(into: Uint8Array, place: number): void {
    for (let done = 0; done < into.length; ) {
      const size = fs.readSync(this.#descriptor!, into, done, into.length - done, place + done);
      if (size === 0) throw new Error(`the scratch file ends at ${place + done}`);
      done += size;
    }
  }

  free(): void {
    if (this.#descriptor !== undefined) fs.closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

/** Beside the caches, which lie where there is room; else among temporary files. */
function unnamedFile(): number {
  let fault: unknown;
  for (const folder of [cacheFolder(), os.tmpdir()])
    try {
      fs.mkdirSync(folder, { recursive: true });
      const file = path.join(folder, `.scratch-${process.pid}-${randomBytes(6).toString('hex')}`);
      const descriptor = fs.openSync(file, 'wx+', 0o600);
      fs.unlinkSync(file);
      return descriptor;
    } catch (error) {
      fault = error;
    }
  throw new UserError(
    `no file can be made for the points of texts: ${(fault as Error).message}; HSN_CACHE names another folder`,
  );
}
