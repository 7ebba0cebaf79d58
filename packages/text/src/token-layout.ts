import { createHash } from 'node:crypto';
import type { CorpusReport } from './corpus-report.ts';

/** Changes whenever the files of a cache do. */
export const CACHE_VERSION = 1;
export const MANIFEST = 'cache.json';

/** Flat files of a cache: token numbers as 32-bit integers, texts in UTF-8, and a fixed-size row for each sentence. */
export const CACHE_FILES = ['encoder.bin', 'decoder.bin', 'texts.bin', 'rows.bin'] as const;
export type CacheFile = (typeof CACHE_FILES)[number];

/** What stands at the end of a cache's making; a cache without it is not whole. */
export interface CacheManifest {
  format: 'hsn-token-cache';
  version: number;
  key: string;
  sentences: number;
  files: Record<CacheFile, { bytes: number; sha256: string }>;
  report: CorpusReport;
}

/** cache.json as text: the manifest with its own sha256 last, so that a change to it is seen too. */
export function manifestText(manifest: CacheManifest): string {
  return `${JSON.stringify({ ...manifest, sha256: sumOf(manifest) }, null, 2)}\n`;
}

/** The manifest in a cache.json; nothing where it was changed. */
export function parseManifest(text: string): CacheManifest | undefined {
  const { sha256, ...manifest } = JSON.parse(text) as CacheManifest & { sha256?: string };
  return sha256 === sumOf(manifest) ? manifest : undefined;
}

const sumOf = (manifest: CacheManifest): string =>
  createHash('sha256').update(JSON.stringify(manifest)).digest('hex');

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
