import { restoredText, UserError } from '@hidden-schema/base';
import {
  columnNames,
  findColumns,
  type RecordSettings,
  type RecordSource,
  type TableLayout,
} from './columns.ts';
import type { CorpusReport } from './corpus-report.ts';
import { CsvAssembler, type CsvRecord } from './csv.ts';
import { type TextLine, textLines } from './lines.ts';
import type { TextRecord } from './settings.ts';
import { isWalkTable } from './walk-columns.ts';

/** Where the wanted columns of a table are. */
interface Places {
  text: number;
  /** -1 without labels. */
  label: number;
  /** Undefined where none are wanted, so that records stay small. */
  further: number[] | undefined;
  count: number;
  /** Whether this program wrote the table, and so kept texts from being taken as formulas. */
  own: boolean;
}

/** Rows of comma- or tab-separated values, by the layout of the file. */
export async function* tableRecords(
  source: RecordSource,
  settings: RecordSettings,
  report: CorpusReport,
): AsyncGenerator<TextRecord> {
  const { layout } = source;
  if (layout.pair) return yield* pairRecords(source, report, layout);
  let places: Places | undefined;
  for await (const row of tableRows(source, report, layout)) {
    const { fields, line, skip, cut } = row;
    if (!places) {
      places = placesIn(fields, layout, settings, source.name);
      if (layout.header) continue;
    }
    if (skip) continue;
    if (cut && layout.quoted) report.tooLong++;
    else if (fields.length === 1 && fields[0]!.trim() === '' && (places.count > 1 || !layout.quoted))
      yield { text: '', label: undefined, line };
    else yield tableRecord(row, places, layout, `${source.name}:${line}`);
  }
}

/** The rows of a table as cells, those before the first left out. */
async function* tableRows(
  source: RecordSource,
  report: CorpusReport,
  { delimiter, quoted, skipped }: TableLayout,
): AsyncGenerator<CsvRecord> {
  const records = new CsvAssembler(source.name, source.longestLine, delimiter);
  for await (const lines of textLines(source, report))
    for (const piece of lines) {
      if (piece.number <= skipped) continue;
      const row = quoted ? records.take(piece) : splitLine(piece, delimiter);
      if (row) yield row;
    }
  records.finish();
}

const splitLine = ({ text, number, cut, skip }: TextLine, delimiter: string): CsvRecord => ({
  fields: text.split(delimiter),
  line: number,
  cut,
  skip,
});

function placesIn(
  row: readonly string[],
  layout: TableLayout,
  settings: RecordSettings,
  name: string,
): Places {
  const names = columnNames(row, layout);
  const { textColumn, labelColumn, timeColumn, further } = settings;
  const found = { textColumn: layout.text ?? textColumn, labelColumn: layout.label };
  if (found.labelColumn === undefined) found.labelColumn = labelColumn;
  const { text, label } = findColumns(names, { ...found, timeColumn, further }, name);
  return {
    text: names.indexOf(text),
    label: label === undefined ? -1 : names.indexOf(label),
    further: further?.map((one) => names.indexOf(one)),
    count: row.length,
    own: !layout.quoted && isWalkTable(names),
  };
}

function tableRecord(row: CsvRecord, at: Places, layout: TableLayout, where: string): TextRecord {
  const { fields, line, cut } = row;
  if (layout.quoted && fields.length !== at.count)
    throw new UserError(
      `${where} has ${fields.length} fields where the ${layout.header ? 'header' : 'first row'} has ${at.count}; put texts with ${layout.delimiter === ',' ? 'commas' : JSON.stringify(layout.delimiter)} in quotation marks`,
    );
  if (!layout.quoted && fields.length <= Math.max(at.text, at.label, ...(at.further ?? [])))
    throw new UserError(
      `${where} has ${fields.length} columns, fewer than ${layout.header ? 'the header names' : `the first row, which has ${at.count}`}`,
    );
  const cell = fields[at.text]!;
  const text = at.own ? restoredText(cell) : cell;
  const record = { text, label: fields[at.label], line, ...(layout.quoted ? {} : { cut }) };
  return at.further ? { ...record, values: at.further.map((place) => fields[place]) } : record;
}

/** `label<TAB>text`, where a text may hold further tabs. */
async function* pairRecords(
  source: RecordSource,
  report: CorpusReport,
  { delimiter }: TableLayout,
): AsyncGenerator<TextRecord> {
  for await (const lines of textLines(source, report))
    for (const { text, number, cut, skip } of lines) {
      if (skip) continue;
      const end = text.indexOf(delimiter);
      if (text.trim() === '') yield { text: '', label: undefined, line: number };
      else if (end < 0)
        throw new UserError(
          `${source.name}:${number} has no tab; expected "label<TAB>text" (for one sentence a line choose --input-format text)`,
        );
      else yield { text: text.slice(end + 1), label: text.slice(0, end), line: number, cut };
    }
}
