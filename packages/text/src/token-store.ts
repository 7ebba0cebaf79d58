import fs from 'node:fs';
import path from 'node:path';
import { hashFile, openSealed, readFully, sealedText } from '@hidden-schema/base';
import type { CorpusReport } from './corpus-report.ts';
import { TEXT_SPLITS, type TextSplit } from './settings.ts';
import { rowDraw, type SplitShares, splitOfDraw, textKey } from './text-keys.ts';

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
    this.#descriptors = byCacheFile((name) => fs.openSync(path.join(folder, name), 'r'));
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
    const rows = (part: number) => Int32Array.from(parts[part]!);
    return { train: rows(0), valid: rows(1), test: rows(2) };
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
    if (readFully(this.#descriptors[name], into, position) < into.length)
      throw new CacheFault(`${path.join(this.folder, name)} ends before its tokens do`);
  }
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

/** Changes whenever the files of a cache do. */
export const CACHE_VERSION = 1;
export const MANIFEST = 'cache.json';

/** Flat files of a cache: token numbers as 32-bit integers, texts in UTF-8, and a fixed-size row for each sentence. */
export const CACHE_FILES = ['encoder.bin', 'decoder.bin', 'texts.bin', 'rows.bin'] as const;
export type CacheFile = (typeof CACHE_FILES)[number];

export const byCacheFile = <T>(of: (name: CacheFile) => T) =>
  Object.fromEntries(CACHE_FILES.map((name) => [name, of(name)])) as Record<CacheFile, T>;

/** What stands at the end of a cache's making; a cache without it is not whole. */
export interface CacheManifest {
  format: 'hsn-token-cache';
  version: number;
  key: string;
  sentences: number;
  files: Record<CacheFile, { bytes: number; sha256: string }>;
  report: CorpusReport;
}

type Sealed = Parameters<typeof sealedText>[0];

/** cache.json as text: the manifest with its own sha256 last, so that a change to it is seen too. */
export const manifestText = (manifest: CacheManifest): string => sealedText(manifest as unknown as Sealed);

/** The manifest in a cache.json; nothing where it is not as it was written. */
export const parseManifest = (text: string) => openSealed(text) as unknown as CacheManifest | undefined;

export interface TokenRow {
  encoderStart: number;
  decoderStart: number;
  textStart: number;
  encoderLength: number;
  decoderLength: number;
  textBytes: number;
  label: number;
  /** Split given by the user, as its place in TEXT_SPLITS; -1 where it is drawn by seed. */
  split: number;
  hash: Uint32Array;
  line: number;
  file: number;
}

export const ROW_BYTES = 64;

export function packRow(row: TokenRow, into: DataView, at: number): void {
  into.setFloat64(at, row.encoderStart, true);
  into.setFloat64(at + 8, row.decoderStart, true);
  into.setFloat64(at + 16, row.textStart, true);
  into.setInt32(at + 24, row.encoderLength, true);
  into.setInt32(at + 28, row.decoderLength, true);
  into.setInt32(at + 32, row.textBytes, true);
  into.setInt32(at + 36, row.label, true);
  into.setInt32(at + 40, row.split, true);
  into.setUint32(at + 44, row.hash[0]!, true);
  into.setUint32(at + 48, row.hash[1]!, true);
  into.setFloat64(at + 52, row.line, true);
  into.setInt32(at + 60, row.file, true);
}

export function unpackRow(from: DataView, at: number): TokenRow {
  return {
    encoderStart: from.getFloat64(at, true),
    decoderStart: from.getFloat64(at + 8, true),
    textStart: from.getFloat64(at + 16, true),
    encoderLength: from.getInt32(at + 24, true),
    decoderLength: from.getInt32(at + 28, true),
    textBytes: from.getInt32(at + 32, true),
    label: from.getInt32(at + 36, true),
    split: from.getInt32(at + 40, true),
    hash: Uint32Array.of(from.getUint32(at + 44, true), from.getUint32(at + 48, true)),
    line: from.getFloat64(at + 52, true),
    file: from.getInt32(at + 60, true),
  };
}
