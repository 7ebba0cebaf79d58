import fs from 'node:fs';
import path from 'node:path';
import { hashFile } from '@hidden-schema/base';
import { TEXT_SPLITS, type TextSplit } from './settings.ts';
import { rowDraw, type SplitShares, splitOfDraw } from './splits.ts';
import { textKey } from './text-keys.ts';
import {
  CACHE_FILES,
  CACHE_VERSION,
  type CacheFile,
  type CacheManifest,
  MANIFEST,
  parseManifest,
  ROW_BYTES,
  type TokenRow,
  unpackRow,
} from './token-layout.ts';

/** A cache that is not whole, or not of this version: to be made again. */
export class CacheFault extends Error {
  override name = 'CacheFault';
}

const SCAN_ROWS = 4096;

/** One side's tokens of a sentence. */
export type TokenSide = 'encoder' | 'decoder';

/**
 * Tokenised sentences on disk, read row by row. In memory are only the lengths (4 bytes a sentence), which batches
 * need for all sentences at once.
 */
export class TokenStore {
  readonly folder: string;
  readonly manifest: CacheManifest;
  readonly count: number;
  readonly lengths: Record<TokenSide, Uint16Array>;
  readonly #descriptors: Record<CacheFile, number>;
  #closed = false;
  readonly #row = new DataView(new ArrayBuffer(ROW_BYTES));

  private constructor(folder: string, manifest: CacheManifest) {
    this.folder = folder;
    this.manifest = manifest;
    this.count = manifest.sentences;
    this.#descriptors = openFiles(folder);
    this.lengths = { encoder: new Uint16Array(this.count), decoder: new Uint16Array(this.count) };
    for (const [at, row] of this.#rows()) {
      this.lengths.encoder[at] = row.encoderLength;
      this.lengths.decoder[at] = row.decoderLength;
    }
  }

  /** Opens a cache, after checking each file's size and, unless told otherwise, its sha256. */
  static open(folder: string, { key, verify = true }: { key?: string; verify?: boolean } = {}): TokenStore {
    const manifest = readManifest(folder);
    if (key !== undefined && manifest.key !== key)
      throw new CacheFault(`${folder} belongs to another corpus`);
    for (const name of CACHE_FILES) {
      const file = path.join(folder, name);
      const stated = manifest.files[name];
      const bytes = fs.statSync(file, { throwIfNoEntry: false })?.size;
      if (bytes !== stated.bytes)
        throw new CacheFault(`${file} has ${bytes ?? 0} bytes, not ${stated.bytes}`);
      if (verify && hashFile(file).sha256 !== stated.sha256)
        throw new CacheFault(`${file} was changed since it was written`);
    }
    if (manifest.files['rows.bin'].bytes !== manifest.sentences * ROW_BYTES)
      throw new CacheFault(`${folder} states ${manifest.sentences} sentences but holds another number`);
    return new TokenStore(folder, manifest);
  }

  row(index: number): TokenRow {
    if (!Number.isInteger(index) || index < 0 || index >= this.count)
      throw new RangeError(`sentence ${index} of ${this.count}`);
    this.#read('rows.bin', new Uint8Array(this.#row.buffer), index * ROW_BYTES);
    return unpackRow(this.#row, 0);
  }

  ids(side: TokenSide, row: TokenRow): Int32Array {
    const ids = new Int32Array(side === 'encoder' ? row.encoderLength : row.decoderLength);
    const start = side === 'encoder' ? row.encoderStart : row.decoderStart;
    this.#read(`${side}.bin`, new Uint8Array(ids.buffer), start * 4);
    return ids;
  }

  /** A sentence as it was read, with its label's name. */
  example(index: number): { text: string; label: string | undefined; file: string; line: number } {
    const row = this.row(index);
    const bytes = Buffer.alloc(row.textBytes);
    this.#read('texts.bin', bytes, row.textStart);
    const { report } = this.manifest;
    const label = report.labels[row.label]?.[0];
    return { text: bytes.toString('utf8'), label, file: report.files[row.file]!.name, line: row.line };
  }

  /** Content keys of all sentences, in their order. [N] */
  keys(): BigUint64Array {
    const keys = new BigUint64Array(this.count);
    for (const [at, { hash }] of this.#rows()) keys[at] = textKey(hash);
    return keys;
  }

  /** The sentences of each split: as the files say, or drawn by seed from what each text is. */
  splits(shares: SplitShares, seed: number): Record<TextSplit, Int32Array> {
    const parts = TEXT_SPLITS.map((): number[] => []);
    let nearest = { row: -1, draw: 2 };
    for (const [at, { split, hash }] of this.#rows()) {
      const draw = split < 0 ? rowDraw(hash, seed) : undefined;
      if (draw !== undefined && draw < nearest.draw) nearest = { row: at, draw };
      parts[draw === undefined ? split : splitOfDraw(draw, shares)]!.push(at);
    }
    // A corpus of a few sentences may draw none for training: the one that came nearest is taken.
    if (parts[0]!.length === 0 && nearest.row >= 0) {
      for (const part of parts) if (part.includes(nearest.row)) part.splice(part.indexOf(nearest.row), 1);
      parts[0]!.push(nearest.row);
    }
    const [train, valid, test] = parts.map((rows) => Int32Array.from(rows)) as [
      Int32Array,
      Int32Array,
      Int32Array,
    ];
    return { train, valid, test };
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const name of CACHE_FILES) fs.closeSync(this.#descriptors[name]);
  }

  *#rows(): Generator<[number, TokenRow]> {
    const block = new Uint8Array(SCAN_ROWS * ROW_BYTES);
    const view = new DataView(block.buffer);
    for (let start = 0; start < this.count; start += SCAN_ROWS) {
      const size = Math.min(SCAN_ROWS, this.count - start);
      this.#read('rows.bin', block.subarray(0, size * ROW_BYTES), start * ROW_BYTES);
      for (let i = 0; i < size; i++) yield [start + i, unpackRow(view, i * ROW_BYTES)];
    }
  }

  #read(name: CacheFile, into: Uint8Array, position: number): void {
    if (this.#closed) throw new Error('this token store is closed');
    for (let done = 0; done < into.length; ) {
      const size = fs.readSync(this.#descriptors[name], into, done, into.length - done, position + done);
      if (size === 0) throw new CacheFault(`${path.join(this.folder, name)} ends before its tokens do`);
      done += size;
    }
  }
}

function openFiles(folder: string): Record<CacheFile, number> {
  return Object.fromEntries(
    CACHE_FILES.map((name) => [name, fs.openSync(path.join(folder, name), 'r')]),
  ) as Record<CacheFile, number>;
}

function readManifest(folder: string): CacheManifest {
  let manifest: CacheManifest | undefined;
  try {
    manifest = parseManifest(fs.readFileSync(path.join(folder, MANIFEST), 'utf8'));
  } catch (error) {
    throw new CacheFault(`${folder} is not a whole token cache: ${(error as Error).message}`);
  }
  if (!manifest) throw new CacheFault(`${folder} was changed since it was written`);
  if (manifest.format !== 'hsn-token-cache' || manifest.version !== CACHE_VERSION)
    throw new CacheFault(`${folder} is a token cache of version ${manifest.version}, not ${CACHE_VERSION}`);
  return manifest;
}
