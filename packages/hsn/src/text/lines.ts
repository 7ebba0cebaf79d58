import { isUtf8 } from 'node:buffer';
import fs from 'node:fs';
import { firstBadByte } from '../corpus/lines.ts';
import { UserError } from '../errors.ts';
import type { CorpusReport } from './report.ts';

const CHUNK = 1 << 20;
const NEWLINE = 10;
const RETURN = 13;
const QUOTE = 34;

/** A line as bytes, without its end; `bytes` is valid until the next line is asked for. */
interface RawLine {
  bytes: Buffer;
  number: number;
  /** Bytes beyond the limit, which were passed over. */
  lost: number;
  /** Quotation marks among them: whether a quoted field goes on is told by their parity. */
  quotesLost: number;
  /** Whether a newline ended it. */
  ended: boolean;
}

/** Collects the pieces of a line that chunks have cut, up to a limit. */
class Pieces {
  #parts: Buffer[] = [];
  #size = 0;
  lost = 0;
  quotesLost = 0;
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get empty(): boolean {
    return this.#size === 0;
  }

  add(piece: Buffer): void {
    const kept = piece.subarray(0, Math.max(0, this.#limit - this.#size));
    if (kept.length > 0) this.#parts.push(Buffer.from(kept));
    this.#size += kept.length;
    this.lost += piece.length - kept.length;
    for (let at = piece.indexOf(QUOTE, kept.length); at >= 0; at = piece.indexOf(QUOTE, at + 1))
      this.quotesLost++;
  }

  take(number: number, ended: boolean): RawLine {
    const line = { bytes: Buffer.concat(this.#parts), number, lost: this.lost, quotesLost: this.quotesLost };
    this.#parts = [];
    this.#size = this.lost = this.quotesLost = 0;
    return { ...line, ended };
  }
}

/** Lines of a file; no more than `limit` bytes of one, and a chunk of the file, are held at a time. */
function* rawLines(file: string, limit: number, onBytes: (count: number) => void): Generator<RawLine> {
  const descriptor = fs.openSync(file, 'r');
  try {
    const chunk = Buffer.allocUnsafe(CHUNK);
    const pieces = new Pieces(limit);
    let number = 0;
    for (;;) {
      const size = fs.readSync(descriptor, chunk, 0, CHUNK, null);
      if (size === 0) break;
      onBytes(size);
      const block = chunk.subarray(0, size);
      let start = 0;
      for (let end = block.indexOf(NEWLINE); end >= 0; end = block.indexOf(NEWLINE, start)) {
        const piece = block.subarray(start, end);
        start = end + 1;
        if (pieces.empty && piece.length <= limit)
          yield { bytes: piece, number: ++number, lost: 0, quotesLost: 0, ended: true };
        else {
          pieces.add(piece);
          yield pieces.take(++number, true);
        }
      }
      if (start < size) pieces.add(block.subarray(start));
    }
    if (!pieces.empty) yield pieces.take(++number, false);
  } finally {
    fs.closeSync(descriptor);
  }
}

export interface TextLine {
  text: string;
  number: number;
  /** Longer than is held: only its beginning is here. */
  cut: boolean;
  quotesLost: number;
  /** Not UTF-8, and to be left out. */
  skip: boolean;
}

export interface LineSource {
  file: string;
  /** What faults call the file. */
  name: string;
  longestLine: number;
  onBytes?: (count: number) => void;
}

/** Lines of a file as text: without BOM and line ends, bytes that are not UTF-8 by the report's policy. */
export function* textLines(source: LineSource, report: CorpusReport): Generator<TextLine> {
  let crlf = false;
  let ended = true;
  for (const line of rawLines(source.file, source.longestLine, source.onBytes ?? (() => {}))) {
    let bytes = line.bytes;
    report.lines++;
    ended = line.ended;
    const bom = line.number === 1 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    if (bom) {
      bytes = bytes.subarray(3);
      report.boms++;
    }
    if (line.lost > 0) bytes = wholeCharacters(bytes);
    else if (bytes.at(-1) === RETURN) {
      bytes = bytes.subarray(0, -1);
      crlf = true;
    }
    const bad = !isUtf8(bytes);
    if (bad) {
      if (report.badUtf8.policy === 'error') throw badBytes(source.name, line.number, bytes, bom ? 3 : 0);
      report.badUtf8.lines++;
    }
    const { number, quotesLost } = line;
    const skip = bad && report.badUtf8.policy === 'skip';
    yield { text: bytes.toString('utf8'), number, cut: line.lost > 0, quotesLost, skip };
  }
  if (crlf) report.crlf++;
  if (!ended) report.noFinalNewline++;
}

/** Without the first bytes of a character whose other bytes were cut off. */
function wholeCharacters(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return bytes;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? bytes.subarray(0, -back) : bytes;
  }
  return bytes;
}

/** The fault of a line that is not UTF-8; `before` bytes stood before these in the file's line. */
function badBytes(name: string, line: number, bytes: Buffer, before: number): UserError {
  const at = firstBadByte(bytes);
  const value = bytes[at]!.toString(16).padStart(2, '0');
  const wide = line === 1 && at === 0 && (bytes[0] === 0xff || bytes[0] === 0xfe);
  const hint = wide ? ' (the file looks like UTF-16)' : '';
  return new UserError(
    `${name}:${line}:${at + 1 + before} is not valid UTF-8 (byte 0x${value})${hint}; convert the file to UTF-8, or choose --on-bad-utf8 replace or skip`,
  );
}
