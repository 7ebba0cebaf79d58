import fs from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { cacheFolder, UserError } from '@hidden-schema/base';
import { type CorpusReport, counted, emptyReport, fingerprintOf } from './corpus-report.ts';
import { encodingName } from './decoding.ts';
import type { TextReader } from './reader.ts';
import { TEXT_DEFAULTS, type TextSettings, type TextSplit } from './settings.ts';
import { type CorpusInput, hashSources, resolveSources, type SourceSum, type TextSource } from './sources.ts';
import { DEFAULT_SHARES, type SplitShares, textKey } from './text-keys.ts';
import { type CorpusProgress, type TokenizerSide, tokenStore } from './token-cache.ts';
import type { TokenStore } from './token-store.ts';

export interface TextCorpusOptions extends Partial<TextSettings> {
  /** Shares of train, valid and test where the files do not give them. */
  split?: SplitShares;
  /** Draws the splits. */
  seed?: number;
  cache?: string;
  stdin?: NodeJS.ReadableStream;
  signal?: AbortSignal;
  onProgress?: (progress: CorpusProgress) => void;
}

export interface TextCorpus {
  store: TokenStore;
  /** Sentences of each split, as rows of the store. */
  splits: Record<TextSplit, Int32Array>;
  report: CorpusReport;
  /** Names of the labels by number. */
  labels: string[];
  /** Whether the tokens were on disk already. */
  cached: boolean;
  close(): void;
}

/** A value of a column, and where it stands. */
export interface ColumnValue {
  /** Of the text beside it; undefined where that is blank or a repeat that is removed, so that it is no row of a corpus. */
  hash: Uint32Array | undefined;
  /** Undefined where the cell is empty. */
  value: string | undefined;
  /** For messages. */
  where: string;
}

/** Texts of a corpus before anything is tokenised: what vocabularies are drawn from. */
export class TextFiles {
  readonly sources: readonly TextSource[];
  readonly settings: TextSettings;
  /** How the files were understood, where that was found in them; a line each. */
  readonly notes: readonly string[];
  readonly #options: TextCorpusOptions;
  readonly #spool: string;
  #sums: Promise<SourceSum[]> | undefined;

  private constructor(
    understood: Pick<TextFiles, 'sources' | 'settings' | 'notes'>,
    options: TextCorpusOptions,
    spool: string,
  ) {
    this.settings = understood.settings;
    this.sources = understood.sources;
    this.notes = understood.notes;
    this.#options = options;
    this.#spool = spool;
  }

  /** Finds the files; standard input is copied to the cache until `close`. */
  static async find(input: CorpusInput, options: TextCorpusOptions = {}): Promise<TextFiles> {
    checkShares(options.split ?? DEFAULT_SHARES);
    const spool = path.join(options.cache ?? cacheFolder(), 'input');
    const settings = settingsOf(options);
    const notes: string[] = [];
    const sources: TextSource[] = [];
    for (const source of await resolveSources(input, { ...options, spool }))
      sources.push(await understood(source, settings, notes));
    return new TextFiles({ sources, settings, notes }, options, spool);
  }

  /** Every text of the corpus, in batches; only those that a training may see when the files name splits. */
  async *texts(report = emptyReport(this.settings.onBadUtf8)): AsyncGenerator<string[]> {
    const reader = await readerOf(this.settings, report);
    const { signal } = this.#options;
    for (const source of this.sources) {
      if (source.split !== null && source.split !== 'train') continue;
      for await (const batch of reader.batches(source, { signal })) {
        signal?.throwIfAborted();
        yield batch.map(({ text }) => text);
      }
    }
  }

  /** The values of a column of all files, record after record; refused where no file names its columns. */
  async *column(name: string): AsyncGenerator<ColumnValue> {
    const { signal } = this.#options;
    let found = false;
    const settings = { ...this.settings, further: [name] };
    const reader = await readerOf(settings);
    const { declaredLayout } = await import('./columns.ts');
    for (const source of this.sources) {
      const layout = source.layout ?? declaredLayout(source.format, this.settings);
      if (['text', 'document'].includes(source.format) || (source.format === 'tsv' && layout.pair))
        throw new UserError(
          `${source.name} was read without names of columns, so it has no column ${JSON.stringify(name)}; take a table with a header: CSV, TSV, JSONL or Parquet`,
        );
      for await (const { line, hash, values } of reader.values(source, { signal })) {
        found ||= values[0] !== undefined;
        yield { hash, value: values[0]?.trim() || undefined, where: `${source.name}:${line}` };
      }
    }
    if (!found) throw new UserError(`no text has a ${JSON.stringify(name)}; name another column`);
  }

  /** The corpus as token numbers for an encoder and a decoder. */
  async tokenise(sides: { encoder: TokenizerSide; decoder: TokenizerSide }): Promise<TextCorpus> {
    const { signal, onProgress, split, seed } = this.#options;
    const folder = path.join(this.#options.cache ?? cacheFolder(), 'tokens');
    const { store, cached } = await tokenStore(this.sources, {
      folder,
      settings: this.settings,
      sums: await this.sums(),
      ...sides,
      signal,
      onProgress,
    });
    const { report } = store.manifest;
    return {
      store,
      splits: store.splits(split ?? DEFAULT_SHARES, seed ?? 1),
      report,
      labels: report.labels.map(([label]) => label),
      cached,
      close: () => store.close(),
    };
  }

  /** What tells each file from others: sha256 of its content, read once. */
  sums(): Promise<SourceSum[]> {
    const { signal, onProgress } = this.#options;
    this.#sums ??= hashSources(
      this.sources,
      (bytes, totalBytes) => onProgress?.({ phase: 'hashing', bytes, totalBytes, sentences: 0 }),
      signal,
    );
    return this.#sums;
  }

  /** What tells this corpus from others, read from the files alone. */
  async fingerprint(): Promise<{ fingerprint: string; bytes: number }> {
    const sums = await this.sums();
    const files = sums.map(({ sha256 }, at) => ({ sha256, split: this.sources[at]!.split }));
    return { fingerprint: fingerprintOf(files), bytes: sums.reduce((sum, { bytes }) => sum + bytes, 0) };
  }

  /** Content keys of the texts of each file, in order: what rows of a `TokenStore` have as theirs. */
  async keys(): Promise<bigint[][]> {
    const reader = await readerOf(this.settings);
    const { signal } = this.#options;
    const files: bigint[][] = [];
    for (const source of this.sources) {
      const keys: bigint[] = [];
      for await (const batch of reader.batches(source, { signal }))
        for (const { hash } of batch) keys.push(textKey(hash));
      files.push(keys);
    }
    return files;
  }

  /** Removes the copy of standard input. */
  close(): void {
    for (const { file } of this.sources)
      if (path.dirname(file) === this.#spool) fs.rmSync(file, { force: true });
  }
}

/** Notes of files that were read alike, at most. */
const MOST_NOTES = 4;

/** Reads files of every kind; loaded where files are read, and not where their tokens are at hand. */
async function readerOf(
  settings: TextSettings,
  report: CorpusReport = emptyReport(settings.onBadUtf8),
): Promise<TextReader> {
  const { TextReader } = await import('./reader.ts');
  return new TextReader(settings, report);
}

/** A source with the layout that is found in it, and what there is to say about it. */
async function understood(source: TextSource, settings: TextSettings, notes: string[]): Promise<TextSource> {
  const { file, name, format } = source;
  if (settings.layout === 'declared') return source;
  if (format === 'document' && fs.statSync(file).isDirectory()) {
    const { documentFiles } = await import('./documents.ts');
    const documents = documentFiles(file);
    const labels = new Set(documents.flatMap(({ label }) => label ?? []));
    const folders = labels.size > 0 ? `, labels are the ${counted(labels.size, 'folder')} in it` : '';
    notes.push(
      `${name}: ${counted(documents.length, 'document')}, one a file${folders}; --input-format text reads one a line`,
    );
    return source;
  }
  if (format !== 'csv' && format !== 'tsv') return source;
  const { detectLayout } = await import('./detect-layout.ts');
  const { layout, notes: found } = detectLayout({ file, name, format }, settings);
  if (notes.length < MOST_NOTES) notes.push(...found);
  return { ...source, layout };
}

/** Sentences of a stream, a line each, as soon as they come; `report` counts what was done with them. */
export async function* streamedTexts(
  stream: Readable,
  options: TextCorpusOptions,
  report: CorpusReport,
): AsyncGenerator<string[]> {
  const reader = await readerOf(settingsOf(options), report);
  for await (const batch of reader.stream(stream, options.signal)) yield batch.map(({ text }) => text);
}

function settingsOf(options: TextCorpusOptions): TextSettings {
  const settings: TextSettings = { ...TEXT_DEFAULTS };
  const keys = [
    'format',
    'textColumn',
    'labelColumn',
    'timeColumn',
    'delimiter',
    'header',
    'layout',
    'onBadUtf8',
    'clean',
    'stopWords',
    'duplicates',
    'longestText',
    'longestLine',
  ] as const;
  for (const key of keys) if (options[key] !== undefined) Object.assign(settings, { [key]: options[key] });
  const encoding = options.encoding === undefined ? undefined : encodingName(options.encoding);
  if (encoding !== undefined) settings.encoding = encoding;
  if (settings.delimiter !== undefined && settings.delimiter.length !== 1)
    throw new UserError(
      `--delimiter takes one character, such as ";" or a tab, got ${JSON.stringify(settings.delimiter)}`,
    );
  // A table with dates has named columns, and so other texts than one without a header.
  if (settings.timeColumn !== undefined && settings.layout === 'declared') settings.textColumn ??= 'text';
  for (const key of ['longestText', 'longestLine'] as const) {
    if (!Number.isInteger(settings[key]) || settings[key] < 16)
      throw new UserError(`${key}: expected a whole number of at least 16, got ${settings[key]}`);
  }
  return settings;
}

function checkShares(shares: SplitShares): void {
  const fine = shares.length === 3 && shares.every((share) => share >= 0 && share < Number.POSITIVE_INFINITY);
  if (!fine || !(shares[0] > 0))
    throw new UserError(
      `split: expected three shares for train, valid and test with train above 0, such as 80,10,10, got ${shares.join(',')}`,
    );
}
