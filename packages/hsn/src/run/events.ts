import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { readRegular, writeAll } from '@hidden-schema/base';
import { maskedCrc32c } from './sums.ts';

/** One TensorBoard event: scalars at a step, or what a file begins with. */
export interface TrainingEvent {
  /** Seconds since 1970. */
  wallTime: number;
  step: number;
  fileVersion?: string;
  /** Set where a resumed run begins: a reader drops what earlier files say of later steps. */
  restart?: true;
  scalars: Record<string, number>;
}

export interface EventWriterOptions {
  /** The step a resumed run continues from. */
  resumedAt?: number;
  /** Milliseconds since 1970. */
  now?: () => number;
}

const FILE_VERSION = 'brain.Event:2';
/** Lengths beyond this come from damage, not from a writer of scalars. */
const MAX_RECORD = 1 << 26;

/** Writes scalars that TensorBoard reads; every writer opens a file of its own. */
export class EventWriter {
  readonly file: string;
  readonly #now: () => number;
  #descriptor: number | undefined;

  constructor(directory: string, options: EventWriterOptions = {}) {
    this.#now = options.now ?? Date.now;
    fs.mkdirSync(directory, { recursive: true });
    const host = os.hostname().replace(/[^\w-]/g, '-') || 'host';
    const name = `events.out.tfevents.${Math.floor(this.#now() / 1000)}.${host}.${process.pid}`;
    const { file, descriptor } = openNew(path.join(directory, name));
    this.file = file;
    this.#descriptor = descriptor;
    this.#write({ wallTime: this.#now() / 1000, step: 0, fileVersion: FILE_VERSION, scalars: {} });
    if (options.resumedAt !== undefined)
      this.#write({ wallTime: this.#now() / 1000, step: options.resumedAt, restart: true, scalars: {} });
  }

  /** Writes the scalars of a step at once; what was written survives the end of this process. */
  scalars(step: number, values: Readonly<Record<string, number>>): void {
    this.#write({ wallTime: this.#now() / 1000, step, scalars: { ...values } });
  }

  close(): void {
    if (this.#descriptor !== undefined) fs.closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #write(event: TrainingEvent): void {
    if (this.#descriptor === undefined) throw new Error(`${this.file} is closed`);
    writeAll(this.#descriptor, frameRecord(encodeEvent(event)));
  }
}

/** Two writers of one second and process get different names. */
function openNew(wanted: string): { file: string; descriptor: number } {
  for (let copy = 0; ; copy++) {
    const file = copy === 0 ? wanted : `${wanted}.${copy}`;
    try {
      return { file, descriptor: fs.openSync(file, 'wx') };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** Length, its checksum, payload, its checksum. */
export function frameRecord(payload: Uint8Array): Buffer {
  const record = Buffer.alloc(16 + payload.length);
  record.writeBigUInt64LE(BigInt(payload.length), 0);
  record.writeUInt32LE(maskedCrc32c(record.subarray(0, 8)), 8);
  record.set(payload, 12);
  record.writeUInt32LE(maskedCrc32c(payload), 12 + payload.length);
  return record;
}

// Protocol buffers: Event { double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5;
// SessionLog session_log = 7 }, Summary { repeated Value value = 1 }, Value { string tag = 1; float simple_value = 2 },
// SessionLog { Status status = 1 } with START = 1.

const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;
const START = 1;

export function encodeEvent(event: TrainingEvent): Buffer {
  const time = Buffer.alloc(8);
  time.writeDoubleLE(event.wallTime);
  const parts = [field(1, WIRE.fixed64, time)];
  // Zero is the default and is left out, as other writers do.
  if (event.step !== 0) parts.push(field(2, WIRE.varint, varint(event.step)));
  if (event.fileVersion !== undefined) parts.push(bytesField(3, Buffer.from(event.fileVersion)));
  const values = Object.entries(event.scalars).map(([tag, value]) => {
    const number = Buffer.alloc(4);
    number.writeFloatLE(value);
    return bytesField(1, Buffer.concat([bytesField(1, Buffer.from(tag)), field(2, WIRE.fixed32, number)]));
  });
  if (values.length > 0) parts.push(bytesField(5, Buffer.concat(values)));
  if (event.restart) parts.push(bytesField(7, field(1, WIRE.varint, varint(START))));
  return Buffer.concat(parts);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

const field = (number: number, wire: number, content: Uint8Array): Buffer =>
  Buffer.concat([varint((number << 3) | wire), content]);
const bytesField = (number: number, content: Uint8Array): Buffer =>
  field(number, WIRE.bytes, Buffer.concat([varint(content.length), content]));

/**
 * How much of an event file can be read: bytes up to the first record that is cut or damaged, its size where there is
 * none. `onRecord` gets what each whole record holds.
 */
export function checkEvents(
  file: string,
  onRecord: (payload: Buffer) => void = () => {},
): { validBytes: number; size: number } {
  const bytes = readRegular(file, Number.POSITIVE_INFINITY);
  let at = 0;
  while (at + 12 <= bytes.length) {
    const length = Number(bytes.readBigUInt64LE(at));
    const end = at + 16 + length;
    if (length > MAX_RECORD || end > bytes.length) break;
    const payload = bytes.subarray(at + 12, end - 4);
    const whole =
      bytes.readUInt32LE(at + 8) === maskedCrc32c(bytes.subarray(at, at + 8)) &&
      bytes.readUInt32LE(end - 4) === maskedCrc32c(payload);
    if (!whole) break;
    onRecord(payload);
    at = end;
  }
  return { validBytes: at, size: bytes.length };
}
