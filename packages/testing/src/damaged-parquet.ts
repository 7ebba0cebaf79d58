// Small Parquet files, whole and damaged.
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parquetWriteBuffer } from 'hyparquet-writer';

/** Sentences with labels in two row groups. */
export function smallParquet(rows = 24): Buffer {
  const numbers = Array.from({ length: rows }, (_, i) => i);
  const columnData = [
    {
      name: 'text',
      data: numbers.map((i) => `sentence ${(7919 * i) % 1000} of a few words`),
      type: 'STRING',
    },
    { name: 'label', data: numbers.map((i) => (i % 2 === 0 ? 'good' : 'bad')), type: 'STRING' },
  ] as const;
  return Buffer.from(
    parquetWriteBuffer({ columnData: columnData.map((column) => ({ ...column })), rowGroupSize: rows / 2 }),
  );
}

/** What a byte is changed by: its lowest bit, one in its middle, all of them. */
export const CHANGES = [0x01, 0x10, 0xff] as const;

export function changed(bytes: Uint8Array, at: number, by: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at]! ^= by;
  return copy;
}

/** A file of this kind whose changed byte sends the reader into a loop without end. */
export const HANGING = fileURLToPath(new URL('../../../fixtures/parquet/hanging.parquet', import.meta.url));

/** A footer with a list of empty structures, which takes 64 times its size in memory; a hole on disk. */
export function writeSwelling(file: string, structures: number): void {
  const count: number[] = [];
  for (let left = structures; ; left >>>= 7) {
    count.push(left > 0x7f ? (left & 0x7f) | 0x80 : left);
    if (left <= 0x7f) break;
  }
  const start = Buffer.from([0x15, 0x02, 0x19, 0xfc, ...count]);
  const footer = start.length + structures + 1;
  fs.writeFileSync(file, Buffer.concat([Buffer.from('PAR1'), start]));
  fs.truncateSync(file, 4 + footer);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(footer);
  fs.appendFileSync(file, Buffer.concat([size, Buffer.from('PAR1')]));
}
