import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { readRegular } from '@hidden-schema/base';
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

  /** Makes what was written survive the end of the machine. */
  sync(): void {
    if (this.#descriptor !== undefined) fs.fsyncSync(this.#descriptor);
  }

  close(): void {
    if (this.#descriptor !== undefined) fs.closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #write(event: TrainingEvent): void {
    if (this.#descriptor === undefined) throw new Error(`${this.file} is closed`);
    const bytes = frameRecord(encodeEvent(event));
    for (let done = 0; done < bytes.length; ) done += fs.writeSync(this.#descriptor, bytes, done);
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

export interface EventFile {
  events: TrainingEvent[];
  /** Bytes up to the first record that is cut or damaged; the file's size when there is none. */
  validBytes: number;
  size: number;
}

/** Reads an event file up to a cut or damaged tail. */
export function readEvents(file: string): EventFile {
  const bytes = readRegular(file, Number.POSITIVE_INFINITY);
  const events: TrainingEvent[] = [];
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
    events.push(decodeEvent(payload));
    at = end;
  }
  return { events, validBytes: at, size: bytes.length };
}

function decodeEvent(bytes: Buffer): TrainingEvent {
  const event: TrainingEvent = { wallTime: 0, step: 0, scalars: {} };
  for (const { number, content, value } of fields(bytes))
    if (number === 1 && content.length === 8) event.wallTime = content.readDoubleLE();
    else if (number === 2) event.step = Number(BigInt.asIntN(64, value));
    else if (number === 3) event.fileVersion = content.toString();
    else if (number === 5) Object.assign(event.scalars, decodeSummary(content));
    else if (number === 7 && fields(content).some((f) => f.number === 1 && f.value === BigInt(START)))
      event.restart = true;

  return event;
}

function decodeSummary(bytes: Buffer): Record<string, number> {
  const pairs = fields(bytes)
    .filter(({ number }) => number === 1)
    .map(({ content }): [string, number | undefined] => {
      const inner = fields(content);
      const tag = inner.find(({ number }) => number === 1)?.content.toString() ?? '';
      const scalar = inner.find(({ number, content }) => number === 2 && content.length === 4);
      return [tag, scalar?.content.readFloatLE()];
    });
  return Object.fromEntries(pairs.filter((pair): pair is [string, number] => pair[1] !== undefined));
}

interface Field {
  number: number;
  content: Buffer;
  value: bigint;
}

/** Fields of one message; unknown ones are passed over by whoever reads them. */
function fields(bytes: Buffer): Field[] {
  const found: Field[] = [];
  let at = 0;
  const readVarint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; at < bytes.length && shift < 70n; shift += 7n) {
      const byte = bytes[at++]!;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value;
  };
  while (at < bytes.length) {
    const key = Number(readVarint());
    const wire = key & 7;
    const value = wire === WIRE.varint || wire === WIRE.bytes ? readVarint() : 0n;
    const length = wire === WIRE.fixed64 ? 8 : wire === WIRE.fixed32 ? 4 : Number(value);
    const content = wire === WIRE.varint ? Buffer.alloc(0) : bytes.subarray(at, at + length);
    if (wire !== WIRE.varint) at += length;
    found.push({ number: key >>> 3, content, value });
  }
  return found;
}
