import { restoredText, UserError } from '@hidden-schema/base';
import { type ColumnSettings, describe, findColumns, namingText } from './columns.ts';
import type { CorpusReport } from './corpus-report.ts';
import { CsvAssembler } from './csv.ts';
import { type LineSource, type TextLine, textLines } from './lines.ts';
import type { TextRecord, TextSettings } from './settings.ts';
import { isWalkTable } from './walk-columns.ts';

/** How records are read, with the further columns that are wanted of them. */
export type RecordSettings = TextSettings & Pick<ColumnSettings, 'further'>;

type Reader = (
  source: LineSource,
  settings: RecordSettings,
  report: CorpusReport,
) => AsyncGenerator<TextRecord>;

/** One sentence a line. */
async function* plainRecords(
  source: LineSource,
  _settings: RecordSettings,
  report: CorpusReport,
): AsyncGenerator<TextRecord> {
  for await (const lines of textLines(source, report))
    for (const { text, number, cut, skip } of lines)
      if (!skip) yield { text, label: undefined, line: number, cut };
}

/** `label<TAB>text`, or columns by name under a header when names are given. */
async function* tsvRecords(
  source: LineSource,
  settings: RecordSettings,
  report: CorpusReport,
): AsyncGenerator<TextRecord> {
  const named = hasHeader(settings);
  let at: TabColumns | undefined;
  for await (const lines of textLines(source, report))
    for (const line of lines) {
      const { text, number, skip } = line;
      if (named && !at) {
        const names = text.split('\t');
        const { text: wanted, label } = findColumns(names, settings, source.name);
        const labelAt = label === undefined ? -1 : names.indexOf(label);
        const own = isWalkTable(names);
        const further = placesOf(names, settings);
        at = { text: names.indexOf(wanted), label: labelAt, own, ...(further ? { further } : {}) };
      } else if (skip) continue;
      else if (text.trim() === '') yield { text: '', label: undefined, line: number };
      else yield tabRecord(line, at, `${source.name}:${number}`);
    }
}

/** Whether the columns of tab-separated values are named: otherwise they are label and text. */
export const hasHeader = ({ textColumn, labelColumn, timeColumn }: ColumnSettings): boolean =>
  textColumn !== undefined || labelColumn !== undefined || timeColumn !== undefined;

/** Places of the further columns; nothing where none are wanted, so that records stay as small as they were. */
const placesOf = (names: readonly string[], { further }: ColumnSettings): number[] | undefined =>
  further?.map((name) => names.indexOf(name));

interface TabColumns {
  text: number;
  label: number;
  further?: number[];
  /** Whether this program wrote the table, and so kept texts from being taken as formulas. */
  own: boolean;
}

function tabRecord({ text, number, cut }: TextLine, at: TabColumns | undefined, where: string): TextRecord {
  if (at) {
    const fields = text.split('\t');
    if (fields.length <= Math.max(at.text, at.label, ...(at.further ?? [])))
      throw new UserError(`${where} has ${fields.length} columns, fewer than the header names`);
    const cell = fields[at.text]!;
    const record = { text: at.own ? restoredText(cell) : cell, label: fields[at.label], line: number, cut };
    return at.further ? { ...record, values: at.further.map((place) => fields[place]) } : record;
  }
  const tab = text.indexOf('\t');
  if (tab < 0)
    throw new UserError(
      `${where} has no tab; expected "label<TAB>text" (for one sentence a line choose --input-format text)`,
    );
  return { text: text.slice(tab + 1), label: text.slice(0, tab), line: number, cut };
}

/** Comma-separated values under a header (RFC 4180). */
async function* commaRecords(
  source: LineSource,
  settings: RecordSettings,
  report: CorpusReport,
): AsyncGenerator<TextRecord> {
  const records = new CsvAssembler(source.name, source.longestLine);
  let header: { text: number; label: number; count: number; further: number[] | undefined } | undefined;
  for await (const lines of textLines(source, report))
    for (const piece of lines) {
      const record = records.take(piece);
      if (!record) continue;
      const { fields, line, skip, cut } = record;
      if (!header) {
        const { text, label } = findColumns(fields, settings, source.name);
        const labelAt = label === undefined ? -1 : fields.indexOf(label);
        const further = placesOf(fields, settings);
        header = { text: fields.indexOf(text), label: labelAt, count: fields.length, further };
      } else if (skip) continue;
      else if (cut) report.tooLong++;
      else if (fields.length === 1 && fields[0]!.trim() === '' && header.count > 1)
        yield { text: '', label: undefined, line };
      else if (fields.length !== header.count)
        throw new UserError(
          `${source.name}:${line} has ${fields.length} fields where the header has ${header.count}; put texts with commas in quotation marks`,
        );
      else yield commaRecord(fields, header, line);
    }
  records.finish();
}

function commaRecord(
  fields: readonly string[],
  at: { text: number; label: number; further: readonly number[] | undefined },
  line: number,
): TextRecord {
  const record = { text: fields[at.text]!, label: fields[at.label], line };
  return at.further ? { ...record, values: at.further.map((place) => fields[place]) } : record;
}

/** One JSON object a line. */
async function* jsonRecords(
  source: LineSource,
  settings: RecordSettings,
  report: CorpusReport,
): AsyncGenerator<TextRecord> {
  for await (const lines of textLines(source, report))
    for (const { text, number, cut, skip } of lines) {
      if (skip) continue;
      if (cut) report.tooLong++;
      else if (text.trim() === '') yield { text: '', label: undefined, line: number };
      else yield jsonRecord(text, settings, `${source.name}:${number}`, number);
    }
}

function jsonRecord(line: string, settings: RecordSettings, where: string, number: number): TextRecord {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw new UserError(`${where} is not JSON: ${(error as Error).message}; expected one object a line`);
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new UserError(`${where} is ${describe(value)}; expected one object a line, with a text`);
  const row = value as Record<string, unknown>;
  // An object may lack what others have; a column that none has is refused by who asks for it.
  const { textColumn, labelColumn, further } = settings;
  const wanted = {
    ...(textColumn === undefined ? {} : { textColumn }),
    ...(labelColumn === undefined ? {} : { labelColumn }),
  };
  const columns = findColumns(Object.keys(row), wanted, where);
  const label = columns.label === undefined ? undefined : row[columns.label];
  const values = further?.map((name) => (Object.hasOwn(row, name) ? row[name] : undefined));
  return typedRecord({ text: row[columns.text], label, values }, columns.text, where, number);
}

/** A row of a table whose values carry their types. */
export function typedRecord(
  values: { text: unknown; label: unknown; values?: readonly unknown[] | undefined },
  column: string,
  where: string,
  line: number,
): TextRecord {
  const text = values.text ?? '';
  if (typeof text !== 'string')
    throw new UserError(`${where} has a "${column}" that is ${describe(text)}; expected text`);
  const label = namingText(values.label, where, 'label');
  if (!values.values) return { text, label, line };
  return { text, label, line, values: values.values.map((value) => namingText(value, where, 'value')) };
}

export const lineReaders: Record<'text' | 'tsv' | 'csv' | 'jsonl', Reader> = {
  text: plainRecords,
  tsv: tsvRecords,
  csv: commaRecords,
  jsonl: jsonRecords,
};
