import type { Readable } from 'node:stream';
import { UserError } from '@hidden-schema/base';
import type { RecordSettings } from './columns.ts';
import type { CorpusReport } from './corpus-report.ts';
import { cleanText, documentRecords } from './documents.ts';
import { type LineSource, textLines } from './lines.ts';
import type { TextRecord } from './settings.ts';
import { INPUT_NAME, type TextSource } from './sources.ts';
import { SeenTexts, textHash } from './text-keys.ts';

/** A sentence as it goes into a corpus. */
export interface CorpusText {
  text: string;
  /** Number of its label in the report's list; -1 for none. */
  label: number;
  line: number;
  /** By `textHash`. */
  hash: Uint32Array;
}

/** What a record has in the columns asked for. */
export interface ColumnValues {
  line: number;
  /** As that of a `CorpusText`; undefined where the text is no part of the corpus. */
  hash: Uint32Array | undefined;
  values: readonly (string | undefined)[];
}

/** Hears how far reading is, and may end it. */
export interface Watch {
  onBytes?: (count: number) => void;
  signal?: AbortSignal | undefined;
}

const MOST_LABELS = 10_000;
const BATCH_TEXTS = 256;
const BATCH_UNITS = 1 << 19;

/** Reads texts one after the other, cleans them, and counts in `report` what it did. */
export class TextReader {
  readonly report: CorpusReport;
  readonly #settings: RecordSettings;
  readonly #labels = new Map<string, number>();
  readonly #seen = new SeenTexts();

  constructor(settings: RecordSettings, report: CorpusReport) {
    this.#settings = settings;
    this.report = report;
  }

  /** The texts of a file in batches that are bounded in number and size. */
  async *batches(source: TextSource, watch: Watch = {}): AsyncGenerator<CorpusText[]> {
    let batch: CorpusText[] = [];
    let units = 0;
    for await (const record of await this.#records(source, watch)) {
      const text = this.#accept(record, source.name);
      if (!text) continue;
      batch.push(text);
      units += text.text.length;
      if (batch.length < BATCH_TEXTS && units < BATCH_UNITS) continue;
      yield batch;
      batch = [];
      units = 0;
    }
    if (batch.length > 0) yield batch;
  }

  /** The values of the further columns of a file, record after record, of blank texts and repeats too. */
  async *values(source: TextSource, watch: Watch = {}): AsyncGenerator<ColumnValues> {
    for await (const record of await this.#records(source, watch)) {
      const hash = this.#accept(record, source.name)?.hash;
      yield { line: record.line, hash, values: record.values ?? [] };
    }
  }

  /** The lines of a stream as texts, as soon as they come. */
  async *stream(from: Readable, signal?: AbortSignal): AsyncGenerator<CorpusText[]> {
    const { longestLine, encoding } = this.#settings;
    const source = { from, name: INPUT_NAME, longestLine, encoding, signal };
    for await (const lines of textLines(source, this.report)) {
      const texts = lines.flatMap(({ text, number, cut, skip }) =>
        skip ? [] : (this.#accept({ text, label: undefined, line: number, cut }, source.name) ?? []),
      );
      if (texts.length > 0) yield texts;
    }
  }

  /** Records of a file, by the code of its format alone. */
  async #records(file: TextSource, watch: Watch): Promise<AsyncIterable<TextRecord>> {
    const { name, format } = file;
    const { longestLine, encoding } = this.#settings;
    const source = { from: file.file, name, longestLine, encoding, ...watch };
    if (format === 'text') return plainRecords(source, this.report);
    if (format === 'document') return documentRecords(source, this.report);
    if (format === 'parquet') {
      const { parquetRecords } = await import('./parquet.ts');
      return parquetRecords({ file: file.file, name, ...watch }, this.#settings, this.report);
    }
    if (format === 'jsonl' || format === 'json') {
      const { jsonRecords } = await import('./json-records.ts');
      return jsonRecords(source, this.#settings, this.report);
    }
    const { declaredLayout } = await import('./columns.ts');
    const { tableRecords } = await import('./table-records.ts');
    const layout = file.layout ?? declaredLayout(format, this.#settings);
    return tableRecords({ ...source, layout }, this.#settings, this.report);
  }

  #accept(record: TextRecord, name: string): CorpusText | undefined {
    const { report } = this;
    const text = this.#clean(record);
    if (text === '') {
      report.blank++;
      return undefined;
    }
    const hash = textHash(text);
    if (this.#settings.duplicates === 'remove' && !this.#seen.add(hash)) {
      report.duplicatesRemoved++;
      return undefined;
    }
    report.sentences++;
    return { text, label: this.#labelOf(record.label, name), line: record.line, hash };
  }

  /** Without NUL, lone surrogates, space around it and what nobody says (`cleanText`), and no longer than the limit. */
  #clean(record: TextRecord): string {
    const { report } = this;
    let { text } = record;
    if (text.includes('\0')) {
      report.nul++;
      text = text.replaceAll('\0', '');
    }
    if (/\p{Surrogate}/u.test(text)) {
      report.loneSurrogates++;
      text = text.replace(/\p{Surrogate}/gu, '\uFFFD');
    }
    text = text.trim();
    if (this.#settings.clean) {
      const cleaned = cleanText(text);
      if (cleaned !== text) report.cleaned = (report.cleaned ?? 0) + 1;
      text = cleaned;
    }
    const most = this.#settings.longestText;
    if (text.length > most || record.cut) report.cut++;
    if (text.length <= most) return text;
    const high = text.charCodeAt(most - 1);
    return text.slice(0, high >= 0xd800 && high < 0xdc00 ? most - 1 : most).trimEnd();
  }

  #labelOf(written: string | undefined, name: string): number {
    const label = written?.trim().replace(/\p{Surrogate}/gu, '\uFFFD');
    if (label === undefined || label === '') {
      this.report.unlabelled++;
      return -1;
    }
    let number = this.#labels.get(label);
    if (number === undefined) {
      number = this.#labels.size;
      if (number === MOST_LABELS)
        throw new UserError(
          `${name} has more than ${MOST_LABELS} different labels, as ${JSON.stringify(label.slice(0, 40))}; is another column the label?`,
        );
      this.#labels.set(label, number);
      this.report.labels.push([label, 0]);
    }
    this.report.labels[number]![1]++;
    return number;
  }
}

/** One sentence a line. */
async function* plainRecords(source: LineSource, report: CorpusReport): AsyncGenerator<TextRecord> {
  for await (const lines of textLines(source, report))
    for (const { text, number, cut, skip } of lines)
      if (!skip) yield { text, label: undefined, line: number, cut };
}
