import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { readEvents } from '@hidden-schema/testing/event-files';
import { afterAll, expect, test } from 'vitest';
import { EventWriter, encodeEvent, frameRecord } from '../src/run/events.ts';
import { crc32c, maskedCrc32c } from '../src/run/sums.ts';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-events-'));
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

test('crc32c equals the vectors of RFC 3720', () => {
  expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283);
  expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
  expect(crc32c(new Uint8Array(32).fill(0xff))).toBe(0x62a8ab43);
  expect(crc32c(Uint8Array.from({ length: 32 }, (_, i) => i))).toBe(0x46dd794e);
  expect(crc32c(Uint8Array.from({ length: 32 }, (_, i) => 31 - i))).toBe(0x113fdb5c);
  expect(crc32c(new Uint8Array(0))).toBe(0);
});

test('the first record has the bytes that every TensorBoard file begins with', () => {
  const payload = encodeEvent({ wallTime: 1.5, step: 0, fileVersion: 'brain.Event:2', scalars: {} });
  // 09: field 1, 64 bits; 1a 0d: field 3, 13 bytes.
  expect(hex(payload)).toBe(`09${'000000000000f83f'}1a0d${hex(Buffer.from('brain.Event:2'))}`);
  const record = frameRecord(payload);
  // 24 bytes, and the masked checksum of that length.
  expect(hex(record.subarray(0, 12))).toBe('1800000000000000a37f4b22');
  expect(record.readUInt32LE(36)).toBe(maskedCrc32c(payload));
  expect(record.length).toBe(40);
});

test('a scalar is encoded as by hand', () => {
  const payload = encodeEvent({ wallTime: 1, step: 300, scalars: { ab: 0.5 } });
  expect(hex(payload)).toBe(
    [
      '09000000000000f03f', // wall_time = 1.0
      '10ac02', // step = 300
      '2a0b', // summary, 11 bytes
      '0a09', // value, 9 bytes
      '0a026162', // tag = "ab"
      '150000003f', // simple_value = 0.5
    ].join(''),
  );
});

test('what is written is read back, steps beyond 32 bits too', () => {
  const writer = new EventWriter(folder, { now: () => 1_700_000_000_250 });
  writer.scalars(0, { 'loss/total': 2 });
  writer.scalars(5_000_000_000, { 'loss/total': 0.25, kl: Number.NaN, 名前: -1e-3 });
  writer.close();
  expect(path.basename(writer.file)).toMatch(/^events\.out\.tfevents\.1700000000\.[\w-]+\.\d+$/);
  const { events, validBytes, size } = readEvents(writer.file);
  expect(validBytes).toBe(size);
  expect(events).toEqual([
    { wallTime: 1_700_000_000.25, step: 0, fileVersion: 'brain.Event:2', scalars: {} },
    { wallTime: 1_700_000_000.25, step: 0, scalars: { 'loss/total': 2 } },
    {
      wallTime: 1_700_000_000.25,
      step: 5_000_000_000,
      scalars: { 'loss/total': 0.25, kl: Number.NaN, 名前: Math.fround(-1e-3) },
    },
  ]);
  expect(() => writer.scalars(1, {})).toThrow('is closed');
});

test('a restart opens a new file, which says from where it goes on', () => {
  const now = () => 1_700_000_100_000;
  const first = new EventWriter(folder, { now });
  const second = new EventWriter(folder, { now, resumedAt: 40 });
  expect(second.file).not.toBe(first.file);
  expect(path.basename(second.file)).toContain('tfevents');
  expect(readEvents(second.file).events[1]).toEqual({
    wallTime: 1_700_000_100,
    step: 40,
    restart: true,
    scalars: {},
  });
  first.close();
  second.close();
});

test('a file cut anywhere is read up to the cut', () => {
  const writer = new EventWriter(folder, { now: () => 1_700_000_200_000 });
  for (let step = 1; step <= 5; step++) writer.scalars(step, { loss: step });
  writer.close();
  const whole = fs.readFileSync(writer.file);
  const cut = path.join(folder, 'cut');
  const seen = new Set<number>();
  for (let length = 0; length <= whole.length; length++) {
    fs.writeFileSync(cut, whole.subarray(0, length));
    const { events, validBytes, size } = readEvents(cut);
    expect(size).toBe(length);
    expect(validBytes).toBeLessThanOrEqual(length);
    expect(events.slice(1).map(({ step }) => step)).toEqual(
      [1, 2, 3, 4, 5].slice(0, Math.max(0, events.length - 1)),
    );
    seen.add(events.length);
  }
  expect([...seen]).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

test('every flipped bit ends the reading before its record', () => {
  const record = frameRecord(encodeEvent({ wallTime: 1, step: 7, scalars: { loss: 1 } }));
  const file = path.join(folder, 'flipped');
  for (let bit = 0; bit < record.length * 8; bit++) {
    const damaged = Buffer.concat([record, record]);
    damaged[record.length + (bit >> 3)]! ^= 1 << (bit & 7);
    fs.writeFileSync(file, damaged);
    const { events, validBytes } = readEvents(file);
    expect([events.length, validBytes]).toEqual([1, record.length]);
  }
});
