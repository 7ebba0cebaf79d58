import { UserError } from '@hidden-schema/base';
import { columnNames, declaredLayout, type TableLayout } from './columns.ts';
import { emptyReport } from './corpus-report.ts';
import { CsvAssembler } from './csv.ts';
import { isDate } from './dates.ts';
import { fileLines, type TextLine } from './lines.ts';
import type { TextFormat, TextSettings } from './settings.ts';

/** A layout with what the user should know about it. */
export interface DetectedLayout {
  layout: TableLayout;
  notes: string[];
}

const SAMPLE_BYTES = 1 << 18;
const SAMPLE_ROWS = 200;
const DELIMITERS = [',', ';', '\t', '|'];
/** Names that a column of texts often has, the surest first. */
const TEXT_NAMES =
  'text texts sentence sentences content body review comment message document description abstract article question utterance tweet post'.split(
    ' ',
  );
const LABEL_NAMES = ['label', 'labels', 'category', 'class'];
/** Share of a column's cells that must be dates, or all different, for it to be no label. */
const MOST = 0.9;
/** Rows from which a column of different values is taken as numbers of rows, and not as labels. */
const ID_ROWS = 20;

/** Finds out how a table is written by its first rows. */
export function detectLayout(
  file: { file: string; name: string; format: TextFormat },
  settings: TextSettings,
): DetectedLayout {
  const lines = firstLines(file.file, file.name, settings);
  const separated = /^sep=(.)$/i.exec(lines[0]?.text.trim() ?? '');
  const skipped = separated && settings.delimiter === undefined ? 1 : 0;
  const rest = lines.slice(skipped);
  const delimiter = settings.delimiter ?? separated?.[1] ?? likelyDelimiter(file.format, rest, settings);
  const declared = declaredLayout(file.format, settings);
  const base = { ...declared, delimiter, skipped };
  const rows = rowsOf(rest, base) ?? [];
  const first = rows[0];
  if (!first) return { layout: base, notes: [] };
  const header = settings.header ?? looksLikeNames(rows, settings, file.format);
  const width = new Set(rows.map(({ length }) => length));
  const pair =
    !header &&
    file.format === 'tsv' &&
    settings.delimiter === undefined &&
    !namedByNumber(settings, first) &&
    !(width.size === 1 && first.length > 2);
  const layout = { ...base, header, pair };
  return pair ? pairLayout(layout, rows, file.name) : columnLayout(layout, rows, settings, file.name);
}

/** The lines at a file's beginning, the last of them whole. */
function firstLines(from: string, name: string, { longestLine, encoding }: TextSettings): TextLine[] {
  const lines: TextLine[] = [];
  let [before, bytes] = [0, 0];
  const onBytes = (count: number) => {
    [before, bytes] = [bytes, bytes + count];
  };
  for (const line of fileLines({ from, name, longestLine, encoding, onBytes }, emptyReport('replace'))) {
    if (before >= SAMPLE_BYTES) break;
    if (line.text.trim() !== '') lines.push(line);
  }
  return lines;
}

/** The first rows of a table; nothing where its quotation marks do not fit the delimiter. */
function rowsOf(
  lines: readonly TextLine[],
  { delimiter, quoted }: Pick<TableLayout, 'delimiter' | 'quoted'>,
): string[][] | undefined {
  if (!quoted) return lines.slice(0, SAMPLE_ROWS).map(({ text }) => text.split(delimiter));
  const rows: string[][] = [];
  const records = new CsvAssembler('', Number.POSITIVE_INFINITY, delimiter);
  try {
    for (const line of lines) {
      const record = records.take(line);
      if (record && rows.push(record.fields) === SAMPLE_ROWS) break;
    }
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
  return rows;
}

/** A comma or a tab unless another character splits the rows into more columns, as many in each. */
function likelyDelimiter(format: TextFormat, lines: readonly TextLine[], settings: TextSettings): string {
  if (format === 'tsv') return '\t';
  let best = { delimiter: ',', score: 0 };
  for (const delimiter of DELIMITERS) {
    const rows = rowsOf(lines, { delimiter, quoted: true });
    const [first] = rows ?? [];
    if (!rows || !first || first.length < 2) continue;
    const even = rows.filter(({ length }) => length === first.length).length / rows.length;
    const named = textNameIn(first, settings) === undefined ? 0 : 2;
    const score = named + even + (even === 1 ? first.length / 1000 : 0);
    if (score > best.score) best = { delimiter, score };
  }
  return best.delimiter;
}

const same = (a: string, b: string): boolean => a.trim().toLowerCase() === b.trim().toLowerCase();
const nameIn = (row: readonly string[], names: readonly string[]): string | undefined => {
  for (const name of names) {
    const cell = row.find((one) => one.trim() === name) ?? row.find((one) => same(one, name));
    if (cell !== undefined) return cell.trim();
  }
  return undefined;
};

/** The cell of a first row that names the texts. */
function textNameIn(row: readonly string[], { textColumn }: TextSettings): string | undefined {
  if (textColumn === undefined) return nameIn(row, TEXT_NAMES);
  return row.find((cell) => cell.trim() === textColumn)?.trim();
}

/** Whether the settings name columns that are numbers and no cells of the first row. */
function namedByNumber({ textColumn, labelColumn, timeColumn }: TextSettings, first: readonly string[]) {
  const given = [textColumn, labelColumn, timeColumn].filter((name) => name !== undefined);
  const number = (name: string) => /^[1-9]\d*$/.test(name) && !first.some((cell) => cell.trim() === name);
  return given.length > 0 && given.some(number);
}

/** Whether the first row names the columns, by what it holds and what the rows after it hold. */
function looksLikeNames(
  [first = [], ...rest]: readonly string[][],
  settings: TextSettings,
  format: TextFormat,
): boolean {
  if (namedByNumber(settings, first)) return false;
  const { textColumn, labelColumn, timeColumn } = settings;
  if (textColumn !== undefined || labelColumn !== undefined || timeColumn !== undefined) return true;
  const cells = first.map((cell) => cell.trim());
  const distinct = new Set(cells).size === cells.length;
  const short = cells.every((cell) => cell.length <= 60 && cell.split(/\s+/).length <= 5);
  const plain = cells.every((cell) => !isDate(cell) && !/^-?[\d.,]+$/.test(cell));
  const named = textNameIn(first, settings);
  const at = named === undefined ? -1 : cells.indexOf(named);
  // A label that is called as columns often are stands in other rows too.
  const again = rest.some((row) => row[at]?.trim() === named);
  if (named !== undefined && distinct && short && !again && (rest.length > 0 || format === 'csv'))
    return true;
  return format === 'csv' && distinct && short && plain && !cells.includes('');
}

const valuesOf = (rows: readonly string[][], at: number): string[] =>
  rows.map((row) => row[at]?.trim() ?? '').filter((cell) => cell !== '');
const differentOf = (values: readonly string[]): number => new Set(values).size;
const areDates = (values: readonly string[]): boolean =>
  differentOf(values) > 1 && values.filter(isDate).length >= MOST * values.length;
const areNumbersOfRows = (values: readonly string[]): boolean =>
  values.length >= ID_ROWS && differentOf(values) >= MOST * values.length;

/** Why the values of a column are hardly labels. */
function noLabels(values: readonly string[]): string | undefined {
  const shown = values[0]?.slice(0, 20);
  if (areDates(values)) return `holds dates, such as ${shown}`;
  if (areNumbersOfRows(values)) return `has a value of its own in nearly every row, such as ${shown}`;
  return undefined;
}

/** `label<TAB>text`, unless the first column holds no labels. */
function pairLayout(layout: TableLayout, rows: readonly string[][], name: string): DetectedLayout {
  const why = noLabels(valuesOf(rows, 0));
  if (why === undefined) return { layout, notes: [] };
  const note = `${name}: the first column ${why}, so it is not taken as labels; --label-column 1 takes it, --time-column 1 takes dates`;
  return { layout: { ...layout, pair: false, text: '2', label: null }, notes: [note] };
}

/** Which columns are text and label, by their names or by what they hold. */
function columnLayout(
  layout: TableLayout,
  rows: readonly string[][],
  settings: TextSettings,
  name: string,
): DetectedLayout {
  const names = columnNames(rows[0]!, layout);
  const body = layout.header ? rows.slice(1) : rows;
  const text =
    settings.textColumn ?? (layout.header ? nameIn(names, TEXT_NAMES) : longestColumn(names, body));
  const { label, note } = labelColumn(names, body, { settings, text, header: layout.header });
  const separated =
    layout.delimiter === declaredDelimiter(layout)
      ? ''
      : `, columns separated by ${JSON.stringify(layout.delimiter)}`;
  const read = `texts from ${text ?? 'text'}${label == null ? '' : `, labels from ${label}`}${separated}`;
  const taken = layout.header
    ? `first row taken as names: ${names.slice(0, 12).join(', ')}${names.length > 12 ? ', …' : ''}; ${read}`
    : `no row of names, so columns are numbers; ${read.replaceAll(/from (\d)/g, 'from column $1')}`;
  return {
    layout: { ...layout, ...(text === undefined ? {} : { text }), label },
    notes: [`${name}: ${taken}`, ...(note === undefined ? [] : [`${name}: ${note}`])],
  };
}

const declaredDelimiter = ({ quoted }: TableLayout): string => (quoted ? ',' : '\t');

/** The column whose cells are the longest. */
function longestColumn(names: readonly string[], rows: readonly string[][]): string {
  const lengths = names.map((_, at) => rows.reduce((sum, row) => sum + (row[at]?.length ?? 0), 0));
  return names[lengths.indexOf(Math.max(...lengths))]!;
}

interface Wanted {
  settings: TextSettings;
  text: string | undefined;
  header: boolean;
}

/** The column of labels: the one that is asked for, or one by its name or its few values that holds no dates. */
function labelColumn(
  names: readonly string[],
  rows: readonly string[][],
  { settings, text, header }: Wanted,
): { label: string | null; note?: string } {
  const why = (label: string) => noLabels(valuesOf(rows, names.indexOf(label)));
  const asked = settings.labelColumn;
  if (asked !== undefined) {
    const dates = names.includes(asked) && areDates(valuesOf(rows, names.indexOf(asked)));
    const note = `labels from ${asked} are dates; --time-column ${asked} takes them as such`;
    return { label: asked, ...(dates ? { note } : {}) };
  }
  const label = header ? nameIn(names, LABEL_NAMES) : fewestValues(names, rows, text);
  if (label === undefined || label === text || label === settings.timeColumn) return { label: null };
  const reason = why(label);
  if (reason === undefined) return { label };
  const note = `column ${label} ${reason}, so it is not taken as labels; --label-column ${label} takes it all the same`;
  return { label: null, note };
}

/** The column without a header whose values repeat most, where they repeat at all. */
function fewestValues(
  names: readonly string[],
  rows: readonly string[][],
  text: string | undefined,
): string | undefined {
  const counts = names.map((name, at) =>
    name === text ? Number.POSITIVE_INFINITY : differentOf(valuesOf(rows, at)),
  );
  const least = Math.min(...counts);
  return least > 1 && 2 * least <= rows.length ? names[counts.indexOf(least)] : undefined;
}
