import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { UserError } from '../errors.ts';

const CHUNK = 1 << 20;
/** A longer line is refused, so that memory stays bounded whatever the file is. */
export const LONGEST_LINE = 1 << 20;
const NEWLINE = 10;

export interface LineCounts {
  /** Lines in the file, blank ones included. */
  lines: number;
  blank: number;
  sha256: string;
}

/** Gives each line that is not blank, with its number from 1; accepts CRLF, a BOM and a missing last newline. */
export function readLines(file: string, onLine: (line: string, number: number) => void): LineCounts {
  const name = path.basename(file);
  const hash = createHash('sha256');
  const counts = { lines: 0, blank: 0 };
  const handle = openText(file, name);
  try {
    let rest: Buffer = Buffer.alloc(0);
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK);
      const size = fs.readSync(handle, chunk, 0, CHUNK, null);
      if (size === 0) break;
      hash.update(chunk.subarray(0, size));
      const block = Buffer.concat([rest, chunk.subarray(0, size)]);
      const end = block.lastIndexOf(NEWLINE) + 1;
      if (end > 0) giveLines(block.subarray(0, end), name, counts, onLine);
      rest = block.subarray(end);
      if (rest.length > LONGEST_LINE) throw tooLong(name, counts.lines + 1);
    }
    if (rest.length > 0) giveLines(Buffer.concat([rest, Buffer.from('\n')]), name, counts, onLine);
  } finally {
    fs.closeSync(handle);
  }
  return { ...counts, sha256: hash.digest('hex') };
}

function openText(file: string, name: string): number {
  try {
    if (fs.statSync(file).isFile()) return fs.openSync(file, 'r');
  } catch (error) {
    throw new UserError(`${name} cannot be read: ${(error as Error).message}`);
  }
  throw new UserError(`${name} is not a file`);
}

const tooLong = (name: string, line: number) =>
  new UserError(`${name}:${line} is longer than ${LONGEST_LINE} bytes; expected one sentence or row a line`);

/** `block` holds whole lines, the last newline included. */
function giveLines(
  block: Buffer,
  name: string,
  counts: { lines: number; blank: number },
  onLine: (line: string, number: number) => void,
): void {
  checkBytes(block, name, counts.lines);
  let text = block.toString('utf8');
  if (counts.lines === 0 && text.startsWith('\uFEFF')) text = text.slice(1);
  for (let start = 0; start < text.length; ) {
    let end = text.indexOf('\n', start);
    const next = end + 1;
    if (text.charCodeAt(end - 1) === 13 && end > start) end--;
    if (end - start > LONGEST_LINE) throw tooLong(name, counts.lines + 1);
    const line = text.slice(start, end);
    counts.lines++;
    if (line.trim() === '') counts.blank++;
    else onLine(line, counts.lines);
    start = next;
  }
}

/** Text must be UTF-8 without NUL; the first fault is named by line and byte in the line. */
function checkBytes(block: Buffer, name: string, linesBefore: number): void {
  const nul = block.indexOf(0);
  if (nul < 0 && isUtf8(block)) return;
  let line = linesBefore;
  for (let start = 0; start < block.length; ) {
    const end = block.indexOf(NEWLINE, start) + 1;
    const bytes = block.subarray(start, end);
    line++;
    const zero = bytes.indexOf(0);
    if (zero >= 0) throw new UserError(`${name}:${line}:${zero + 1} is a NUL byte; expected UTF-8 text`);
    if (!isUtf8(bytes)) {
      const at = firstBadByte(bytes);
      const value = bytes[at]!.toString(16).padStart(2, '0');
      throw new UserError(
        `${name}:${line}:${at + 1} is not valid UTF-8 (byte 0x${value}); convert the file to UTF-8`,
      );
    }
    start = end;
  }
}

/** Start of the first sequence that does not decode: where decoding and encoding again first differ. */
export function firstBadByte(bytes: Buffer): number {
  const again = Buffer.from(bytes.toString('utf8'));
  let at = 0;
  while (at < bytes.length && bytes[at] === again[at]) at++;
  // The replacement character's own bytes may agree with the first bytes of a cut sequence.
  while (at > 0 && !isUtf8(bytes.subarray(0, at))) at--;
  return at;
}

/** Calls `onField` for each run of characters between spaces and tabs; returns how many there were. */
export function eachField(line: string, onField: (field: string) => void): number {
  let count = 0;
  let start = 0;
  for (let at = 0; at <= line.length; at++) {
    const code = at < line.length ? line.charCodeAt(at) : 32;
    if (code !== 32 && code !== 9) continue;
    if (at > start) {
      onField(line.slice(start, at));
      count++;
    }
    start = at + 1;
  }
  return count;
}
