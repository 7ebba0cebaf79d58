import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import {
  cacheFolder,
  cacheLimit,
  keepWithin,
  markUsed,
  removeStalePartials,
  UserError,
  writeBeside,
} from '@hidden-schema/base';
import { type CorpusReport, emptyReport, fingerprintOf } from './corpus-report.ts';
import type { CorpusText, TextReader } from './reader.ts';
import { TEXT_SPLITS, type TextSettings } from './settings.ts';
import { refuseChanged, type SourceSum, type TextSource } from './sources.ts';
import {
  CACHE_VERSION,
  CacheFault,
  type CacheManifest,
  MANIFEST,
  manifestText,
  parseManifest,
  TokenStore,
} from './token-store.ts';
import type { TokenWriter } from './token-writer.ts';
import type { EncodedIds, Tokenizer } from './tokenizer/tokenizer.ts';

/** A tokenizer with the most tokens its model takes of a sentence. */
export interface TokenizerSide {
  tokenizer: Tokenizer;
  longest: number;
}

export interface CorpusProgress {
  phase: 'hashing' | 'tokenising';
  bytes: number;
  totalBytes: number;
  sentences: number;
}

export interface CacheOptions {
  folder: string;
  settings: TextSettings;
  /** Of the sources, in their order. */
  sums: readonly SourceSum[];
  encoder: TokenizerSide;
  decoder: TokenizerSide;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: CorpusProgress) => void) | undefined;
}

const LONGEST = 0xffff;

/** The tokenised corpus: from the cache where it is there and whole, else made and put there. */
export async function tokenStore(
  sources: readonly TextSource[],
  options: CacheOptions,
): Promise<{ store: TokenStore; cached: boolean }> {
  for (const side of ['encoder', 'decoder'] as const) {
    const { longest } = options[side];
    if (!Number.isInteger(longest) || longest < 1 || longest > LONGEST)
      throw new UserError(`the ${side}'s longest sentence is from 1 to ${LONGEST} tokens, got ${longest}`);
  }
  const limit = cacheLimit();
  const report = startReport(sources, options);
  const key = cacheKey(report, sources, options);
  const target = path.join(options.folder, key.slice(0, 32));
  const there = openIfWhole(target, key);
  if (there) return { store: there, cached: true };
  await build(sources, target, { key, report }, options);
  const store = TokenStore.open(target, { key, verify: false });
  keepWithin(limit, 'tokens', target);
  return { store, cached: false };
}

/** What was read of a corpus before, by its fingerprint: where its tokens lie, and the report; nothing where they are gone. */
export function storedCorpus(
  fingerprint: string,
  folder: string = path.join(cacheFolder(), 'tokens'),
): { folder: string; report: CorpusReport } | undefined {
  for (const name of fs.existsSync(folder) ? fs.readdirSync(folder) : [])
    try {
      const target = path.join(folder, name);
      const manifest = parseManifest(fs.readFileSync(path.join(target, MANIFEST), 'utf8'));
      if (manifest && fingerprintOf(manifest.report.files) === fingerprint)
        return { folder: target, report: manifest.report };
    } catch {
      // Not whole, or being written.
    }
  return undefined;
}

function openIfWhole(target: string, key: string): TokenStore | undefined {
  if (!fs.existsSync(target)) return undefined;
  try {
    const store = TokenStore.open(target, { key });
    markUsed(path.join(target, MANIFEST));
    return store;
  } catch (error) {
    if (!(error instanceof CacheFault)) throw error;
    fs.rmSync(target, { recursive: true, force: true });
    return undefined;
  }
}

/** Sizes and hashes of the files. */
function startReport(sources: readonly TextSource[], { settings, sums }: CacheOptions): CorpusReport {
  const report = emptyReport(settings.onBadUtf8);
  for (const [at, { name, format, split }] of sources.entries()) {
    const { sha256, bytes } = sums[at]!;
    report.files.push({ name, format, split, sha256, bytes, lines: 0, sentences: 0 });
  }
  return report;
}

/** All that decides what a cache holds. */
function cacheKey(
  report: CorpusReport,
  sources: readonly TextSource[],
  { settings, encoder, decoder }: CacheOptions,
): string {
  const sides = [encoder, decoder].map(({ tokenizer, longest }) => [tokenizer.hash, longest]);
  const files = report.files.map(({ name, format, split, sha256 }, at) => {
    const { layout } = sources[at]!;
    return [name, format, split, sha256, ...(layout ? [layout] : [])];
  });
  const { format: _, timeColumn: __, stopWords: ___, ...rest } = settings;
  const given = Object.entries(rest).filter(([, value]) => value !== undefined && value !== 'declared');
  const sorted = given.sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([CACHE_VERSION, files, sorted, sides]))
    .digest('hex');
}

/** What a cache is known by, and what is told of the files in it. */
type CacheLabel = Pick<CacheManifest, 'key' | 'report'>;

/** Writes a cache; a stop or a fault leaves nothing. */
async function build(
  sources: readonly TextSource[],
  target: string,
  label: CacheLabel,
  options: CacheOptions,
): Promise<void> {
  fs.mkdirSync(path.dirname(target), { recursive: true });
  removeStalePartials(target);
  const write = async (partial: string) => {
    fs.mkdirSync(partial);
    const manifest = await writeFiles(sources, partial, label, options);
    refuseChanged(sources, options.sums);
    fs.writeFileSync(path.join(partial, MANIFEST), manifestText(manifest), { flush: true });
  };
  try {
    // Another process may have made the same cache meanwhile: then its one stands.
    await writeBeside(target, write, { standing: 'kept' });
  } catch (error) {
    const { code, syscall, message } = error as NodeJS.ErrnoException;
    if (code === undefined || syscall === undefined) throw error;
    const hint = code === 'ENOSPC' ? 'free some space' : 'choose another folder with HSN_CACHE';
    throw new UserError(`cannot write the token cache: ${message}; ${hint}`);
  }
}

async function writeFiles(
  sources: readonly TextSource[],
  folder: string,
  { key, report }: CacheLabel,
  options: CacheOptions,
): Promise<CacheManifest> {
  const { TextReader } = await import('./reader.ts');
  const { TokenWriter } = await import('./token-writer.ts');
  const reader = new TextReader(options.settings, report);
  const writer = new TokenWriter(folder);
  try {
    for (const [file, source] of sources.entries())
      await writeSource({ ...source, number: file }, reader, writer, options);
    if (report.sentences === 0) throw emptyCorpus(report);
    report.tokens = writer.tokens;
    const { sentences } = writer;
    const files = writer.finish();
    return { format: 'hsn-token-cache', version: CACHE_VERSION, key, sentences, files, report };
  } finally {
    writer.close();
  }
}

async function writeSource(
  source: TextSource & { number: number },
  reader: TextReader,
  writer: TokenWriter,
  options: CacheOptions,
): Promise<void> {
  const { report } = reader;
  const [lines, sentences] = [report.lines, report.sentences];
  const totalBytes = report.files.reduce((sum, { bytes }) => sum + bytes, 0);
  let bytes = report.files.slice(0, source.number).reduce((sum, { bytes }) => sum + bytes, 0);
  const split = source.split === null ? -1 : TEXT_SPLITS.indexOf(source.split);
  const { signal } = options;
  const onBytes = (count: number) => {
    bytes += count;
  };
  for await (const texts of reader.batches(source, { onBytes, signal })) {
    signal?.throwIfAborted();
    const [encoder, decoder] = await tokenise(texts, options);
    writer.append(texts, encoder, decoder, { split, file: source.number });
    const { sentences } = writer;
    options.onProgress?.({ phase: 'tokenising', bytes: Math.min(bytes, totalBytes), totalBytes, sentences });
  }
  const own = report.files[source.number]!;
  own.lines = report.lines - lines;
  own.sentences = report.sentences - sentences;
}

/** The encoder's side with what its model expects around a text, the decoder's bare: its frame is the batch's matter. */
function tokenise(
  texts: readonly CorpusText[],
  { encoder, decoder }: CacheOptions,
): Promise<[EncodedIds[], EncodedIds[]]> {
  const plain = texts.map(({ text }) => text);
  return Promise.all([
    encoder.tokenizer.encodeBatch(plain, { specials: true, literal: true, longest: encoder.longest }),
    decoder.tokenizer.encodeBatch(plain, { specials: false, literal: true, longest: decoder.longest }),
  ]);
}

function emptyCorpus({ files, lines, blank, badUtf8 }: CorpusReport): UserError {
  const names = files.map(({ name }) => name).join(', ');
  const why =
    lines === 0
      ? 'it is empty'
      : `of ${lines} lines ${blank} are blank and ${badUtf8.policy === 'skip' ? badUtf8.lines : 0} are not UTF-8`;
  return new UserError(`${names} holds no sentence: ${why}; expected a sentence a line`);
}
