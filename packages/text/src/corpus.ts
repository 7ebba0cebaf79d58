import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { cacheFolder, UserError } from '@hidden-schema/base';
import { type CorpusReport, emptyReport, type FileReport } from './corpus-report.ts';
import { TextReader } from './reader.ts';
import { hasHeader } from './records.ts';
import { TEXT_DEFAULTS, type TextSettings, type TextSplit } from './settings.ts';
import { type CorpusInput, hashSource, resolveSources, type TextSource } from './sources.ts';
import { DEFAULT_SHARES, type SplitShares } from './splits.ts';
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
  /** Number of its file, and line in it. */
  file: number;
  line: number;
  /** Undefined where the cell is empty. */
  value: string | undefined;
  /** For messages. */
  where: string;
}

/** Texts of a corpus before anything is tokenised: what vocabularies are drawn from. */
export class TextFiles {
  readonly sources: readonly TextSource[];
  readonly settings: TextSettings;
  readonly #options: TextCorpusOptions;
  readonly #spool: string;

  private constructor(sources: readonly TextSource[], options: TextCorpusOptions, spool: string) {
    this.sources = sources;
    this.settings = settingsOf(options);
    this.#options = options;
    this.#spool = spool;
  }

  /** Finds the files; standard input is copied to the cache until `close`. */
  static async find(input: CorpusInput, options: TextCorpusOptions = {}): Promise<TextFiles> {
    checkShares(options.split ?? DEFAULT_SHARES);
    const spool = path.join(options.cache ?? cacheFolder(), 'input');
    return new TextFiles(await resolveSources(input, { ...options, spool }), options, spool);
  }

  /** Every text of the corpus, in batches; only those that a training may see when the files name splits. */
  async *texts(report = emptyReport(this.settings.onBadUtf8)): AsyncGenerator<string[]> {
    const reader = new TextReader(this.settings, report);
    const { signal } = this.#options;
    for (const source of this.sources) {
      if (source.split !== null && source.split !== 'train') continue;
      for await (const batch of reader.batches(source, signal ? { signal } : {})) {
        signal?.throwIfAborted();
        yield batch.map(({ text }) => text);
      }
    }
  }

  /** The values of a column of all files, record after record; refused where no file names its columns. */
  async *column(name: string): AsyncGenerator<ColumnValue> {
    const { signal } = this.#options;
    let found = false;
    for (const [file, source] of this.sources.entries()) {
      if (source.format === 'text' || (source.format === 'tsv' && !hasHeader(this.settings)))
        throw new UserError(
          `${source.name} was read without names of columns, so it has no column ${JSON.stringify(name)}; take a CSV, JSONL or Parquet file, or a TSV with a header and --text-column`,
        );
      const settings = { ...this.settings, further: [name] };
      const reader = new TextReader(settings, emptyReport(settings.onBadUtf8));
      for await (const { line, values } of reader.values(source, signal ? { signal } : {})) {
        found ||= values[0] !== undefined;
        yield { file, line, value: values[0]?.trim() || undefined, where: `${source.name}:${line}` };
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
      ...sides,
      ...(signal ? { signal } : {}),
      ...(onProgress ? { onProgress } : {}),
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

  /** What tells this corpus from others, read from the files alone. */
  async fingerprint(): Promise<{ fingerprint: string; bytes: number }> {
    const files: { sha256: string; bytes: number; split: TextSource['split'] }[] = [];
    for (const source of this.sources)
      files.push({ ...(await hashSource(source, () => {}, this.#options.signal)), split: source.split });
    return { fingerprint: fingerprintOf(files), bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) };
  }

  /** Removes the copy of standard input. */
  close(): void {
    for (const { file } of this.sources)
      if (path.dirname(file) === this.#spool) fs.rmSync(file, { force: true });
  }
}

/** One hash for the files of a corpus and the splits they are for: the same data, wherever they lie. */
export function fingerprintOf(files: readonly Pick<FileReport, 'sha256' | 'split'>[]): string {
  const told = files.map(({ sha256, split }) => [sha256, split]);
  return createHash('sha256').update(JSON.stringify(told)).digest('hex');
}

/** Sentences of a stream, a line each, as soon as they come; `report` counts what was done with them. */
export async function* streamedTexts(
  stream: Readable,
  options: TextCorpusOptions,
  report: CorpusReport,
): AsyncGenerator<string[]> {
  const reader = new TextReader(settingsOf(options), report);
  for await (const batch of reader.stream(stream, options.signal)) yield batch.map(({ text }) => text);
}

function settingsOf(options: TextCorpusOptions): TextSettings {
  const settings: TextSettings = { ...TEXT_DEFAULTS };
  const keys = [
    'format',
    'textColumn',
    'labelColumn',
    'timeColumn',
    'onBadUtf8',
    'duplicates',
    'longestText',
    'longestLine',
  ] as const;
  for (const key of keys) if (options[key] !== undefined) Object.assign(settings, { [key]: options[key] });
  // A table with dates has named columns, and so other texts than one without a header.
  if (settings.timeColumn !== undefined) settings.textColumn ??= 'text';
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
