import { createHash } from 'node:crypto';
import { UserError } from '../errors.ts';
import { parquetRecords } from './parquet.ts';
import { lineReaders } from './records.ts';
import type { CorpusReport } from './report.ts';
import { SeenTexts } from './seen.ts';
import type { TextRecord, TextSettings } from './settings.ts';
import type { TextSource } from './sources.ts';

/** A sentence as it goes into a corpus. */
export interface CorpusText {
  text: string;
  /** Number of its label in the report's list; -1 for none. */
  label: number;
  line: number;
  /** 64 bits of its sha256: equal texts are told by it, and drawn to one split. */
  hash: Uint32Array;
}

const MOST_LABELS = 10_000;
const BATCH_TEXTS = 256;
const BATCH_UNITS = 1 << 19;

/** Reads texts one after the other, cleans them, and counts in `report` what it did. */
export class TextReader {
  readonly report: CorpusReport;
  readonly #settings: TextSettings;
  readonly #labels = new Map<string, number>();
  readonly #seen = new SeenTexts();

  constructor(settings: TextSettings, report: CorpusReport) {
    this.#settings = settings;
    this.report = report;
  }

  /** The texts of a file in batches that are bounded in number and size. */
  async *batches(source: TextSource, onBytes: (count: number) => void): AsyncGenerator<CorpusText[]> {
    let batch: CorpusText[] = [];
    let units = 0;
    for await (const record of this.#records(source, onBytes)) {
      const text = this.#accept(record, source);
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

  #records(
    { file, name, format }: TextSource,
    onBytes: (count: number) => void,
  ): AsyncIterable<TextRecord> | Iterable<TextRecord> {
    const { longestLine } = this.#settings;
    if (format === 'parquet') return parquetRecords({ file, name, onBytes }, this.#settings, this.report);
    return lineReaders[format]({ file, name, longestLine, onBytes }, this.#settings, this.report);
  }

  #accept(record: TextRecord, source: TextSource): CorpusText | undefined {
    const { report } = this;
    const text = this.#clean(record);
    if (text === '') {
      report.blank++;
      return undefined;
    }
    const digest = createHash('sha256').update(text).digest();
    const hash = Uint32Array.of(digest.readUInt32LE(0), digest.readUInt32LE(4));
    if (this.#settings.duplicates === 'remove' && !this.#seen.add(hash)) {
      report.duplicatesRemoved++;
      return undefined;
    }
    report.sentences++;
    return { text, label: this.#labelOf(record.label, source), line: record.line, hash };
  }

  /** Without NUL, lone surrogates and space around it, and no longer than the limit. */
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
    const most = this.#settings.longestText;
    if (text.length > most || record.cut) report.cut++;
    if (text.length <= most) return text;
    const high = text.charCodeAt(most - 1);
    return text.slice(0, high >= 0xd800 && high < 0xdc00 ? most - 1 : most).trimEnd();
  }

  #labelOf(given: string | undefined, source: TextSource): number {
    const label = given?.trim().replace(/\p{Surrogate}/gu, '\uFFFD');
    if (label === undefined || label === '') {
      this.report.unlabelled++;
      return -1;
    }
    let number = this.#labels.get(label);
    if (number === undefined) {
      number = this.#labels.size;
      if (number === MOST_LABELS)
        throw new UserError(
          `${source.name} has more than ${MOST_LABELS} different labels, as ${JSON.stringify(label.slice(0, 40))}; is another column the label?`,
        );
      this.#labels.set(label, number);
      this.report.labels.push([label, 0]);
    }
    this.report.labels[number]![1]++;
    return number;
  }
}
