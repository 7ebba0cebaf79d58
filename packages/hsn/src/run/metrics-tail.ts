import fs from 'node:fs';
import { openRegular } from '@hidden-schema/base';
import { type MetricsRow, parseRow } from './metrics.ts';

const FIRST = 1 << 14;
const LINE_FEED = 0x0a;

/** The last rows of a metrics file, read from its end, so that a long run costs no more than a short one. */
export function lastMetrics(file: string, most: number): MetricsRow[] {
  if (!fs.lstatSync(file, { throwIfNoEntry: false })) return [];
  const descriptor = openRegular(file);
  try {
    let start = fs.fstatSync(descriptor).size;
    let tail = Buffer.alloc(0);
    while (start > 0 && feeds(tail) <= most) {
      // Twice as much each time.
      const chunk = Buffer.alloc(Math.min(Math.max(FIRST, tail.length), start));
      start -= chunk.length;
      const read = fs.readSync(descriptor, chunk, 0, chunk.length, start);
      tail = Buffer.concat([chunk.subarray(0, read), tail]);
    }
    return rowsOf(tail, start === 0).slice(-most);
  } finally {
    fs.closeSync(descriptor);
  }
}

const feeds = (bytes: Buffer): number => bytes.reduce((sum, byte) => sum + (byte === LINE_FEED ? 1 : 0), 0);

/** Rows of whole lines; the first is one only where the file begins with it. */
function rowsOf(bytes: Buffer, fromStart: boolean): MetricsRow[] {
  const lines = bytes
    .subarray(0, bytes.lastIndexOf(LINE_FEED) + 1)
    .toString('utf8')
    .split('\n');
  return lines.slice(fromStart ? 0 : 1).flatMap((line) => parseRow(line) ?? []);
}
