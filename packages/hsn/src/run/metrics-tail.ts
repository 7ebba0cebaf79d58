import fs from 'node:fs';
import { openRegular } from '@hidden-schema/base';
import { type MetricsFile, parseRow } from './metrics.ts';

const FIRST = 1 << 14;
const LINE_FEED = 0x0a;

/** The last rows of a metrics file, read from its end, so that a long run costs no more than a short one. */
export function lastMetrics(file: string, most: number): MetricsFile {
  if (!fs.lstatSync(file, { throwIfNoEntry: false })) return { rows: [], skipped: 0, cut: false };
  const descriptor = openRegular(file, { follow: false });
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
    return linesOf(tail, start === 0, most);
  } finally {
    fs.closeSync(descriptor);
  }
}

const feeds = (bytes: Buffer): number => bytes.reduce((sum, byte) => sum + (byte === LINE_FEED ? 1 : 0), 0);

/** Rows of whole lines; the first is one only where the file begins with it. */
function linesOf(bytes: Buffer, fromStart: boolean, most: number): MetricsFile {
  const end = bytes.lastIndexOf(LINE_FEED) + 1;
  const whole = bytes.subarray(0, end).toString('utf8').split('\n');
  const lines = whole.slice(fromStart ? 0 : 1, -1).slice(-most);
  const rows = lines.flatMap((line) => parseRow(line) ?? []);
  const cut = end < bytes.length;
  return { rows, skipped: lines.length - rows.length + Number(cut), cut };
}
