import { UserError } from '../errors.ts';
import { describe, findColumns, labelText } from './columns.ts';
import { csvRecords } from './csv.ts';
import { type LineSource, textLines } from './lines.ts';
import type { CorpusReport } from './report.ts';
import type { TextRecord, TextSettings } from './settings.ts';

type Reader = (source: LineSource, settings: TextSettings, report: CorpusReport) => Generator<TextRecord>;

/** One sentence a line. */
export function* plainRecords(
  source: LineSource,
  _settings: TextSettings,
  report: CorpusReport,
): Generator<TextRecord> {
  for (const { text, number, cut, skip } of textLines(source, report)) {
    if (!skip) yield { text, label: undefined, line: number, cut };
  }
}

/** `label<TAB>text`, or columns by name under a header when names are given. */
export function* tsvRecords(
  source: LineSource,
  settings: TextSettings,
  report: CorpusReport,
): Generator<TextRecord> {
  const named = settings.textColumn !== undefined || settings.labelColumn !== undefined;
  let at: { text: number; label: number } | undefined;
  for (const { text, number, cut, skip } of textLines(source, report)) {
    const where = `${source.name}:${number}`;
    if (named && !at) {
      const names = text.split('\t');
      const { text: wanted, label } = findColumns(names, settings, source.name);
      at = { text: names.indexOf(wanted), label: label === undefined ? -1 : names.indexOf(label) };
    } else if (skip) continue;
    else if (text.trim() === '') yield { text: '', label: undefined, line: number };
    else if (at) {
      const fields = text.split('\t');
      if (fields.length <= Math.max(at.text, at.label))
        throw new UserError(`${where} has ${fields.length} columns, fewer than the header names`);
      yield { text: fields[at.text]!, label: fields[at.label], line: number, cut };
    } else {
      const tab = text.indexOf('\t');
      if (tab < 0)
        throw new UserError(
          `${where} has no tab; expected "label<TAB>text" (for one sentence a line choose --format text)`,
        );
      yield { text: text.slice(tab + 1), label: text.slice(0, tab), line: number, cut };
    }
  }
}

/** Comma-separated values under a header (RFC 4180). */
export function* commaRecords(
  source: LineSource,
  settings: TextSettings,
  report: CorpusReport,
): Generator<TextRecord> {
  let header: { text: number; label: number; count: number } | undefined;
  for (const record of csvRecords(textLines(source, report), source.name, source.longestLine)) {
    const { fields, line } = record;
    if (!header) {
      const { text, label } = findColumns(fields, settings, source.name);
      const labelAt = label === undefined ? -1 : fields.indexOf(label);
      header = { text: fields.indexOf(text), label: labelAt, count: fields.length };
    } else if (record.skip) continue;
    else if (record.cut) report.tooLong++;
    else if (fields.length === 1 && fields[0]!.trim() === '' && header.count > 1)
      yield { text: '', label: undefined, line };
    else if (fields.length !== header.count)
      throw new UserError(
        `${source.name}:${line} has ${fields.length} fields where the header has ${header.count}; put texts with commas in quotation marks`,
      );
    else yield { text: fields[header.text]!, label: fields[header.label], line };
  }
}

/** One JSON object a line. */
export function* jsonRecords(
  source: LineSource,
  settings: TextSettings,
  report: CorpusReport,
): Generator<TextRecord> {
  for (const { text, number, cut, skip } of textLines(source, report)) {
    if (skip) continue;
    if (cut) report.tooLong++;
    else if (text.trim() === '') yield { text: '', label: undefined, line: number };
    else yield jsonRecord(text, settings, `${source.name}:${number}`, number);
  }
}

function jsonRecord(line: string, settings: TextSettings, where: string, number: number): TextRecord {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw new UserError(`${where} is not JSON: ${(error as Error).message}; expected one object a line`);
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new UserError(`${where} is ${describe(value)}; expected one object a line, with a text`);
  const row = value as Record<string, unknown>;
  return tableRecord(row, Object.keys(row), settings, where, number);
}

/** A row of a table whose values carry their types. */
export function tableRecord(
  row: Readonly<Record<string, unknown>>,
  names: readonly string[],
  settings: TextSettings,
  where: string,
  line: number,
): TextRecord {
  const columns = findColumns(names, settings, where);
  const text = row[columns.text] ?? '';
  if (typeof text !== 'string')
    throw new UserError(`${where} has a "${columns.text}" that is ${describe(text)}; expected text`);
  const label = columns.label === undefined ? undefined : labelText(row[columns.label], where);
  return { text, label, line };
}

export const lineReaders: Record<'text' | 'tsv' | 'csv' | 'jsonl', Reader> = {
  text: plainRecords,
  tsv: tsvRecords,
  csv: commaRecords,
  jsonl: jsonRecords,
};
