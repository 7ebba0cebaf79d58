import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { writeAll } from '@hidden-schema/base';
import type { TokenReport } from './corpus-report.ts';
import type { CorpusText } from './reader.ts';
import { byCacheFile, CACHE_FILES, type CacheFile, packRow, ROW_BYTES } from './token-store.ts';
import type { EncodedIds } from './tokenizer/tokenizer.ts';

/** Appends to one file and hashes what it appends. */
class HashedFile {
  readonly #descriptor: number;
  readonly #hash = createHash('sha256');
  bytes = 0;

  constructor(file: string) {
    this.#descriptor = fs.openSync(file, 'wx');
  }

  append(data: Uint8Array): void {
    this.bytes += writeAll(this.#descriptor, data);
    this.#hash.update(data);
  }

  finish(): { bytes: number; sha256: string } {
    fs.fsyncSync(this.#descriptor);
    return { bytes: this.bytes, sha256: this.#hash.digest('hex') };
  }

  close(): void {
    fs.closeSync(this.#descriptor);
  }
}

const noTokens = (): TokenReport => ({ tokens: 0, longest: 0, cutSentences: 0, lostTokens: 0 });

/** Writes the files of a token cache, batch after batch. */
export class TokenWriter {
  readonly tokens = { encoder: noTokens(), decoder: noTokens() };
  sentences = 0;
  readonly #files: Record<CacheFile, HashedFile>;

  constructor(folder: string) {
    this.#files = byCacheFile((name) => new HashedFile(path.join(folder, name)));
  }

  append(
    texts: readonly CorpusText[],
    encoder: readonly EncodedIds[],
    decoder: readonly EncodedIds[],
    from: { split: number; file: number },
  ): void {
    const rows = new DataView(new ArrayBuffer(texts.length * ROW_BYTES));
    const bytes = texts.map(({ text }) => Buffer.from(text));
    let encoderStart = this.#files['encoder.bin'].bytes / 4;
    let decoderStart = this.#files['decoder.bin'].bytes / 4;
    let textStart = this.#files['texts.bin'].bytes;
    for (const [i, { label, hash, line }] of texts.entries()) {
      const encoderLength = count(this.tokens.encoder, encoder[i]!);
      const decoderLength = count(this.tokens.decoder, decoder[i]!);
      const textBytes = bytes[i]!.length;
      const starts = { encoderStart, decoderStart, textStart };
      const row = { ...starts, encoderLength, decoderLength, textBytes, label, hash, line, ...from };
      packRow(row, rows, i * ROW_BYTES);
      encoderStart += encoderLength;
      decoderStart += decoderLength;
      textStart += textBytes;
    }
    this.#files['encoder.bin'].append(bytesOf(encoder));
    this.#files['decoder.bin'].append(bytesOf(decoder));
    this.#files['texts.bin'].append(Buffer.concat(bytes));
    this.#files['rows.bin'].append(new Uint8Array(rows.buffer));
    this.sentences += texts.length;
  }

  finish(): Record<CacheFile, { bytes: number; sha256: string }> {
    return byCacheFile((name) => this.#files[name].finish());
  }

  close(): void {
    for (const name of CACHE_FILES) this.#files[name].close();
  }
}

function count(report: TokenReport, { ids, lost }: EncodedIds): number {
  report.tokens += ids.length;
  report.longest = Math.max(report.longest, ids.length);
  report.lostTokens += lost;
  if (lost > 0) report.cutSentences++;
  return ids.length;
}

function bytesOf(encoded: readonly EncodedIds[]): Uint8Array {
  const flat = new Int32Array(encoded.reduce((sum, { ids }) => sum + ids.length, 0));
  let at = 0;
  for (const { ids } of encoded) {
    flat.set(ids, at);
    at += ids.length;
  }
  return new Uint8Array(flat.buffer);
}
