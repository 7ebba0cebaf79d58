import { isUtf8 } from 'node:buffer';
import { on } from 'node:events';
import fs from 'node:fs/promises';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import {
  type AsyncBuffer,
  type DecodedArray,
  type FileMetaData,
  parquetMetadataAsync,
  parquetRead,
  type RowGroup,
  snappyUncompress,
} from 'hyparquet';
import { wholeCharacters } from './decoding.ts';

export interface ParquetTask {
  file: string;
  /** Bytes of a text that are handed over at most. */
  longestText: number;
}

/** What the reader of a file asks: to open it, for columns of it, then for one piece after the other, or to leave it. */
export type ParquetRequest = ParquetTask | { columns: string[] } | 'next' | 'leave';

/** Some rows; a cell is text, or bytes that are not UTF-8, or a value of another type. */
export interface ParquetPiece {
  rows: unknown[][];
  /** Rows of which only the beginning could be held. */
  cut: number[];
  /** Bytes of row groups that were read to their end. */
  bytes: number;
}

export type ParquetAnswer =
  | { names: string[] }
  | { piece: ParquetPiece }
  | { fault: string; opened: boolean }
  | { done: true };

const PIECE_ROWS = 1024;
const PIECE_BYTES = 1 << 20;
/** Bytes that snappy makes of one at most, rounded up. */
const MOST_EXPANSION = 32;

const port = parentPort as MessagePort;
/** Counted up whenever something was read, so that a hanging reader can be told from a slow one. */
const progress = new Int32Array(workerData as SharedArrayBuffer);
let longestText = 0;
const advance = () => Atomics.add(progress, 0, 1);
const answer = (message: ParquetAnswer) => {
  advance();
  port.postMessage(message);
};

/** What was asked and not yet heard waits here. */
const requests = on(port, 'message') as AsyncIterator<[ParquetRequest]>;
const request = async (): Promise<ParquetRequest> => (await requests.next()).value[0];

/** The bytes of a file; a place outside it is a fault, and so is reading it over and over. */
function guardedFile(handle: fs.FileHandle, byteLength: number): AsyncBuffer {
  let left = 4 * byteLength + (1 << 20);
  return {
    byteLength,
    async slice(start: number, end = byteLength): Promise<ArrayBuffer> {
      const from = start < 0 ? byteLength + start : start;
      if (!(Number.isInteger(from) && from >= 0 && from <= end && end <= byteLength))
        throw new Error(`it points to bytes ${from} to ${end} of ${byteLength}`);
      left -= end - from;
      if (left < 0) throw new Error('its parts overlap');
      const bytes = new Uint8Array(end - from);
      for (let done = 0; done < bytes.length; ) {
        const { bytesRead } = await handle.read(bytes, done, bytes.length - done, from + done);
        if (bytesRead === 0) throw new Error('it became shorter while it was read');
        done += bytesRead;
      }
      advance();
      return bytes.buffer;
    },
  };
}

/** Snappy that takes memory only for what the input can make. */
function uncompress(input: Uint8Array, length: number): Uint8Array {
  if (!(length >= 0 && length <= MOST_EXPANSION * (input.length + 1)))
    throw new Error(`a page of ${input.length} bytes cannot hold ${length}`);
  const output = new Uint8Array(length);
  snappyUncompress(input, output);
  return output;
}

/** Children of the root, by its count of them and theirs. */
function topLevelColumns({ schema }: FileMetaData): string[] {
  const names: string[] = [];
  const end = (at: number): number => {
    let next = at + 1;
    const children = schema[at]?.num_children ?? 0;
    for (let child = 0; child < children && next < schema.length; child++) next = end(next);
    return next;
  };
  for (let at = 1; at < schema.length; at = end(at)) names.push(schema[at]!.name);
  return names;
}

/** The columns of a row group, each of as many values as the group has rows. */
async function readGroup(
  file: AsyncBuffer,
  metadata: FileMetaData,
  columns: string[],
  [rowStart, rowEnd]: [number, number],
): Promise<DecodedArray[][]> {
  const parts = columns.map((): DecodedArray[] => []);
  await parquetRead({
    file,
    metadata,
    columns,
    rowStart,
    rowEnd,
    compressors: { SNAPPY: uncompress },
    // Strings are kept as bytes here, so that the policy for bad UTF-8 decides and not the decoder.
    parsers: { stringFromBytes: (bytes: Uint8Array) => bytes },
    onPage: advance,
    onChunk: ({ columnName, columnData }) => parts[columns.indexOf(columnName)]?.push(columnData),
  });
  for (const [at, part] of parts.entries()) {
    const count = part.reduce((sum, { length }) => sum + length, 0);
    if (count !== rowEnd - rowStart)
      throw new Error(`column "${columns[at]}" has ${count} values for ${rowEnd - rowStart} rows`);
  }
  return parts;
}

/** The values of a column one after the other. */
function* valuesOf(parts: readonly DecodedArray[]): Generator<unknown> {
  for (const part of parts) yield* part;
}

/** Collects rows until they are to be handed over. */
class Pieces {
  #piece: ParquetPiece = { rows: [], cut: [], bytes: 0 };
  #size = 0;

  /** Whether a row filled the piece. */
  add(values: readonly unknown[]): boolean {
    this.#piece.rows.push(values.map((value) => this.#cell(value)));
    return this.#piece.rows.length >= PIECE_ROWS || this.#size >= PIECE_BYTES;
  }

  take(bytes: number): ParquetPiece {
    const piece = { ...this.#piece, bytes };
    this.#piece = { rows: [], cut: [], bytes: 0 };
    this.#size = 0;
    return piece;
  }

  #cell(value: unknown): unknown {
    if (!(value instanceof Uint8Array)) return value;
    let bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    if (bytes.length > longestText) {
      bytes = wholeCharacters(bytes.subarray(0, longestText));
      this.#piece.cut.push(this.#piece.rows.length);
    }
    this.#size += bytes.length;
    return isUtf8(bytes) ? bytes.toString('utf8') : Uint8Array.from(bytes);
  }
}

/** Gives all rows; false when they are no longer wanted. */
async function giveRows(file: AsyncBuffer, metadata: FileMetaData, columns: string[]): Promise<boolean> {
  const pieces = new Pieces();
  const wanted = async (bytes: number) => {
    answer({ piece: pieces.take(bytes) });
    return (await request()) === 'next';
  };
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + groupRows(group);
    const parts = await readGroup(file, metadata, columns, [rowStart, rowEnd]);
    const values = parts.map(valuesOf);
    for (let row = rowStart; row < rowEnd; row++)
      if (pieces.add(values.map((column) => column.next().value)) && !(await wanted(0))) return false;
    if (!(await wanted(Number(group.total_byte_size)))) return false;
    rowStart = rowEnd;
  }
  return true;
}

function groupRows(group: RowGroup): number {
  const rows = Number(group.num_rows);
  if (Number.isSafeInteger(rows) && rows >= 0) return rows;
  throw new Error(`a row group has ${group.num_rows} rows`);
}

/** What the reader or the system says; what the language says of wrong values means nothing to a user. */
function faultOf(error: unknown): string {
  const said = error instanceof Error && !(error instanceof TypeError || error instanceof RangeError);
  return said ? error.message.split('\n')[0]! : 'it is damaged';
}

async function readFile({ file: name }: ParquetTask): Promise<void> {
  let opened = false;
  let handle: fs.FileHandle | undefined;
  try {
    handle = await fs.open(name, 'r');
    const file = guardedFile(handle, (await handle.stat()).size);
    const metadata = await parquetMetadataAsync(file);
    const names = topLevelColumns(metadata);
    opened = true;
    answer({ names });
    const asks = await request();
    const wanted = typeof asks === 'object' && 'columns' in asks;
    if (wanted && (await giveRows(file, metadata, asks.columns))) answer({ done: true });
  } catch (error) {
    answer({ fault: faultOf(error), opened });
  } finally {
    await handle?.close();
  }
}

for (;;) {
  const asks = await request();
  if (typeof asks === 'string' || !('file' in asks)) continue;
  ({ longestText } = asks);
  await readFile(asks);
}
