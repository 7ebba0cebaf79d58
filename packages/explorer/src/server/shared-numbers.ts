import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** Which number is where: the task whose client has left (its number and one), and how many tokens were written. */
export const SHARED = { left: 0, tokens: 1 } as const;
type Slot = (typeof SHARED)[keyof typeof SHARED];

const BYTES = 4;

/**
 * Numbers that two processes see at once, since a message may wait behind work: a file without a name, which never
 * leaves the memory of the system.
 */
export class SharedNumbers {
  readonly descriptor: number;
  readonly #bytes = Buffer.alloc(BYTES);

  constructor(descriptor: number) {
    this.descriptor = descriptor;
  }

  static make(): SharedNumbers {
    const file = path.join(os.tmpdir(), `hsn-${process.pid}-${randomUUID()}`);
    const descriptor = fs.openSync(file, 'wx+', 0o600);
    fs.unlinkSync(file);
    fs.writeSync(descriptor, Buffer.alloc(BYTES * Object.keys(SHARED).length), 0);
    return new SharedNumbers(descriptor);
  }

  get(slot: Slot): number {
    fs.readSync(this.descriptor, this.#bytes, 0, BYTES, slot * BYTES);
    return this.#bytes.readInt32LE(0);
  }

  set(slot: Slot, value: number): void {
    this.#bytes.writeInt32LE(value, 0);
    fs.writeSync(this.descriptor, this.#bytes, 0, BYTES, slot * BYTES);
  }

  close(): void {
    fs.closeSync(this.descriptor);
  }
}
