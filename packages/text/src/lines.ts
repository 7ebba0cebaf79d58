import { isUtf8 } from 'node:buffer';
import fs from 'node:fs';
import { addAbortSignal, type Readable } from 'node:stream';
import { blocksOf, UserError } from '@hidden-schema/base';
import type { CorpusReport } from './corpus-report.ts';
import { firstBadByte, Utf8Blocks, wholeCharacters } from './decoding.ts';

const CHUNK = 1 << 20;
const RETURN = 13;
/** Lines that are handed over at once, at most. */
const PIECE = 4096;

/** The blocks of a file one after the other; a block is valid until the next is asked for. */
export const fileBlocks = (file: string) => blocksOf(fs.openSync(file, 'r'));

/** The blocks of a file or a stream; a stop reaches it also while it waits for input that may never come. */
export async function* readBlocks(
  from: string | Readable,
  name: string,
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  const stream = typeof from === 'string' ? fs.createReadStream(from, { highWaterMark: CHUNK }) : from;
  if (signal) addAbortSignal(signal, stream);
  try {
    for await (const block of stream) {
      signal?.throwIfAborted();
      yield Buffer.isBuffer(block) ? block : Buffer.from(block as string);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw new UserError(`${name} cannot be read: ${(error as Error).message}`);
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

/** What lines are read from. */
export interface LineSource {
  /** A file, or a stream such as standard input. */
  from: string | Readable;
  /** What faults call it. */
  name: string;
  longestLine: number;
  /** As `TextSettings` has it. */
  encoding?: string | undefined;
  onBytes?: (count: number) => void;
  signal?: AbortSignal | undefined;
}

/** Lines as text: without BOM and line ends, bytes that are not UTF-8 by the report's policy. */
export class LineDecoder {
  readonly #name: string;
  readonly #report: CorpusReport;
  #crlf = false;
  #ended = true;

  constructor(name: string, report: CorpusReport) {
    this.#name = name;
    this.#report = report;
  }

  decode(line: RawLine): TextLine {
    const report = this.#report;
    let { bytes } = line;
    report.lines++;
    this.#ended = line.ended;
    const bom = line.number === 1 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    if (bom) {
      bytes = bytes.subarray(3);
      report.boms++;
    }
    if (line.lost > 0) bytes = wholeCharacters(bytes);
    else if (bytes.at(-1) === RETURN) {
      bytes = bytes.subarray(0, -1);
      this.#crlf = true;
    }
    const bad = !isUtf8(bytes);
    if (bad) {
      if (report.badUtf8.policy === 'error') throw badBytes(this.#name, line.number, bytes, bom ? 3 : 0);
      report.badUtf8.lines++;
    }
    const { number, quotesLost } = line;
    const skip = bad && report.badUtf8.policy === 'skip';
    return { text: bytes.toString('utf8'), number, cut: line.lost > 0, quotesLost, skip };
  }

  finish(): void {
    if (this.#crlf) this.#report.crlf++;
    if (!this.#ended) this.#report.noFinalNewline++;
  }
}

/** Lines of a file, read without a turn of the event loop. */
export function* fileLines(
  { from, name, longestLine, encoding, onBytes }: LineSource & { from: string },
  report: CorpusReport,
): Generator<TextLine> {
  const splitter = new LineSplitter(longestLine);
  const decoder = new LineDecoder(name, report);
  const utf8 = new Utf8Blocks(name, encoding, report);
  for (const block of fileBlocks(from)) {
    onBytes?.(block.length);
    for (const line of splitter.split(utf8.take(block))) yield decoder.decode(line);
  }
  for (const line of splitter.split(utf8.end())) yield decoder.decode(line);
  for (const line of splitter.end()) yield decoder.decode(line);
  decoder.finish();
}

/** The blocks of a file or a stream in UTF-8, whatever its encoding. */
export async function* utf8Blocks(
  { from, name, encoding, onBytes, signal }: LineSource,
  report: CorpusReport,
): AsyncGenerator<Buffer> {
  const utf8 = new Utf8Blocks(name, encoding, report);
  for await (const block of readBlocks(from, name, signal)) {
    onBytes?.(block.length);
    yield utf8.take(block);
  }
  yield utf8.end();
}

/** Lines of a file or a stream, some at a time and as soon as they are whole; a stop is heard between blocks. */
export async function* textLines(source: LineSource, report: CorpusReport): AsyncGenerator<TextLine[]> {
  const splitter = new LineSplitter(source.longestLine);
  const decoder = new LineDecoder(source.name, report);
  let piece: TextLine[] = [];
  for await (const block of utf8Blocks(source, report)) {
    for (const line of splitter.split(block)) {
      if (piece.push(decoder.decode(line)) < PIECE) continue;
      yield piece;
      piece = [];
    }
    if (piece.length > 0) yield piece;
    piece = [];
  }
  for (const line of splitter.end()) yield [decoder.decode(line)];
  decoder.finish();
}

/** The fault of a line that is not UTF-8; `before` bytes stood before these in the file's line. */
function badBytes(name: string, line: number, bytes: Buffer, before: number): UserError {
  const { place, value } = firstBadByte(bytes);
  return new UserError(
    `${name}:${line}:${place + before} is not valid UTF-8 (byte ${value}); name its encoding, as --encoding windows-1252, or choose --on-bad-utf8 replace or skip`,
  );
}

const NEWLINE = 10;
const QUOTE = 34;

/** A line as bytes, without its end; `bytes` is valid until the next block is given. */
export interface RawLine {
  bytes: Buffer;
  number: number;
  /** Bytes beyond the limit, which were passed over. */
  lost: number;
  /** Quotation marks among them: whether a quoted field goes on is told by their parity. */
  quotesLost: number;
  /** Whether a newline ended it. */
  ended: boolean;
}

/** Cuts blocks of bytes into lines; no more than `limit` bytes of a line are held, however long it is. */
export class LineSplitter {
  readonly #limit: number;
  #parts: Buffer[] = [];
  #size = 0;
  #lost = 0;
  #quotesLost = 0;
  #number = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The lines that end in a block. */
  *split(block: Buffer): Generator<RawLine> {
    let start = 0;
    for (let end = block.indexOf(NEWLINE); end >= 0; end = block.indexOf(NEWLINE, start)) {
      const piece = block.subarray(start, end);
      start = end + 1;
      if (this.#empty && piece.length <= this.#limit)
        yield { bytes: piece, number: ++this.#number, lost: 0, quotesLost: 0, ended: true };
      else {
        this.#keep(piece);
        yield this.#take(true);
      }
    }
    if (start < block.length) this.#keep(block.subarray(start));
  }

  /** The last line, where no newline ended it. */
  *end(): Generator<RawLine> {
    if (!this.#empty) yield this.#take(false);
  }

  /** Whether the line that is being read is longer than is held. */
  get overlong(): boolean {
    return this.#lost > 0;
  }

  get #empty(): boolean {
    return this.#size === 0 && this.#lost === 0;
  }

  /** The part of a line that the end of a block has cut: copied, since its block will be written over. */
  #keep(piece: Buffer): void {
    const kept = piece.subarray(0, Math.max(0, this.#limit - this.#size));
    if (kept.length > 0) this.#parts.push(Buffer.from(kept));
    this.#size += kept.length;
    this.#lost += piece.length - kept.length;
    for (let at = piece.indexOf(QUOTE, kept.length); at >= 0; at = piece.indexOf(QUOTE, at + 1))
      this.#quotesLost++;
  }

  #take(ended: boolean): RawLine {
    const bytes = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
    const line = { bytes, number: ++this.#number, lost: this.#lost, quotesLost: this.#quotesLost, ended };
    this.#parts = [];
    this.#size = this.#lost = this.#quotesLost = 0;
    return line;
  }
}
