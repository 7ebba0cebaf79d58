import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { UserError } from '@hidden-schema/base';
import { firstBadByte } from './decoding.ts';
import { fileBlocks, LineSplitter, type RawLine } from './lines.ts';

/** A longer line is refused, so that memory stays bounded whatever the file is. */
export const LONGEST_LINE = 1 << 20;
const RETURN = 13;

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
  checkFile(file, name);
  const splitter = new LineSplitter(LONGEST_LINE);
  const take = (line: RawLine) => {
    const text = lineText(line, name);
    counts.lines++;
    if (text.trim() === '') counts.blank++;
    else onLine(text, counts.lines);
  };
  for (const block of fileBlocks(file)) {
    hash.update(block);
    for (const line of splitter.split(block)) take(line);
    if (splitter.overlong) throw tooLong(name, counts.lines + 1);
  }
  for (const line of splitter.end()) take(line);
  return { ...counts, sha256: hash.digest('hex') };
}

function checkFile(file: string, name: string): void {
  try {
    fs.accessSync(file, fs.constants.R_OK);
    if (fs.statSync(file).isFile()) return;
  } catch (error) {
    throw new UserError(`${name} cannot be read: ${(error as Error).message}`);
  }
  throw new UserError(`${name} is not a file`);
}

const tooLong = (name: string, line: number) =>
  new UserError(`${name}:${line} is longer than ${LONGEST_LINE} bytes; expected one sentence or row a line`);

/** A line without BOM and line end; it must be UTF-8 without NUL, and a fault is named by line and byte. */
function lineText({ bytes, number, lost }: RawLine, name: string): string {
  if (lost > 0) throw tooLong(name, number);
  const zero = bytes.indexOf(0);
  if (zero >= 0) throw new UserError(`${name}:${number}:${zero + 1} is a NUL byte; expected UTF-8 text`);
  if (!isUtf8(bytes)) {
    const { place, value } = firstBadByte(bytes);
    throw new UserError(
      `${name}:${number}:${place} is not valid UTF-8 (byte ${value}); convert the file to UTF-8`,
    );
  }
  const text = bytes.toString('utf8', 0, bytes.at(-1) === RETURN ? bytes.length - 1 : bytes.length);
  return number === 1 && text.startsWith('\uFEFF') ? text.slice(1) : text;
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
