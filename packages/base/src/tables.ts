// Without imports, so that the explorer's page can use it too.

export type TableFormat = 'terminal' | 'markdown';
export type Cell = string | number | undefined;

export interface Column {
  title: string;
  /** Numbers stand at the right by default, text at the left. */
  align?: 'left' | 'right';
  /** Decimals of numbers that are not whole; three significant ones without it. */
  digits?: number;
  /** Left out, with a line that says so, on a terminal that is too narrow. */
  optional?: boolean;
}

/** Mean and standard deviation over seeds (n − 1 in the denominator); NaN without values. */
export interface MeanSd {
  mean: number;
  /** Undefined for a single value. */
  sd: number | undefined;
  count: number;
}

export function meanSd(values: readonly number[]): MeanSd {
  const count = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, sd: count > 1 ? Math.sqrt(squares / (count - 1)) : undefined, count };
}

/** `0.989 ± 0.001`; the mean alone for a single value, a dash for none. */
export function formatMeanSd({ mean, sd, count }: MeanSd, digits?: number): string {
  if (count === 0) return '–';
  if (sd === undefined) return formatNumber(mean, digits);
  const places = digits ?? decimals(sd > 0 ? sd : mean);
  return `${formatNumber(mean, places)} ± ${formatNumber(sd, places)}`;
}

/** A number for people: whole ones as they are, others with `digits` decimals or three significant ones. */
export function formatNumber(value: number, digits?: number): string {
  if (Number.isNaN(value)) return '–';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
  if (digits === undefined && Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
  const size = Math.abs(value);
  // Nobody reads ten digits before the point and two behind it.
  if (size >= (digits === undefined ? 1e15 : 1e9) || (digits === undefined && size < 1e-4))
    return value.toExponential(2);
  const text = value.toFixed(digits ?? decimals(value));
  return Number(text) === 0 ? text.replace('-', '') : text;
}

/** Decimals that show three significant digits. */
const decimals = (value: number): number =>
  value === 0 || !Number.isFinite(value)
    ? 0
    : Math.min(8, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value)))));

/**
 * A table with aligned columns, for a terminal or as Markdown. A terminal of `width` columns gets cells of text, and
 * titles, on as many lines as they need; numbers stay whole.
 */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  format: TableFormat,
  width = Number.POSITIVE_INFINITY,
): string {
  const { kept, dropped } =
    format === 'markdown' ? { kept: columns, dropped: [] } : fitColumns(columns, rows, width);
  if (dropped.length > 0) {
    const cells = rows.map((row) => row.filter((_, at) => !dropped.includes(columns[at]!)));
    const names = dropped.map(({ title }) => title).join(', ');
    return `${formatTable(kept, cells, format, width)}left out, as the terminal is narrow: ${names}\n`;
  }
  const clean = format === 'markdown' ? markdownText : plainText;
  const right = columns.map(({ align }, at) => (align ? align === 'right' : isNumeric(rows, at)));
  const head = columns.map(({ title }) => clean(title));
  const body = rows.map((row) => columns.map(({ digits }, at) => clean(cellText(row[at], digits))));
  const least = format === 'markdown' ? 3 : 0;
  const widths = columns.map((_, at) =>
    Math.max(least, ...[head, ...body].map((line) => displayWidth(line[at]!))),
  );
  const pad = (line: readonly string[]) => line.map((text, at) => padded(text, widths[at]!, right[at]!));
  if (format === 'markdown') {
    const rule = widths.map((width, at) => (right[at] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)));
    return [pad(head), rule, ...body.map(pad)].map((line) => `| ${line.join(' | ')} |\n`).join('');
  }
  fitWidths(widths, [head, ...body], width, right);
  const rule = widths.map((wide) => '─'.repeat(wide));
  const lines = (row: readonly string[]) => wrappedRow(row, widths).map(pad);
  return [...lines(head), rule, ...body.flatMap(lines)]
    .map((line) => `${line.join('  ').trimEnd()}\n`)
    .join('');
}

const GAP = 2;
/** Narrowest that a column of text becomes, and how wide it is to be before optional columns go. */
const LEAST_TEXT = 8;
const FAIR_TEXT = 18;

/** Columns without as many optional ones, from the right, as there is no room for. */
function fitColumns(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  width: number,
): { kept: readonly Column[]; dropped: readonly Column[] } {
  const wide = columns.map((column, at) => {
    const cells = [column.title, ...rows.map((row) => cellText(row[at], column.digits))].map(displayWidth);
    const isText = column.align === 'left' || !isNumeric(rows, at);
    return Math.min(Math.max(...cells), isText && !column.optional ? FAIR_TEXT : Number.POSITIVE_INFINITY);
  });
  let total = wide.reduce((sum, one) => sum + one + GAP, -GAP);
  const dropped: Column[] = [];
  for (const [at, column] of [...columns.entries()].reverse()) {
    if (total <= width || !column.optional) continue;
    dropped.unshift(column);
    total -= wide[at]! + GAP;
  }
  return { kept: columns.filter((column) => !dropped.includes(column)), dropped };
}

/** Takes columns from the widest column of text, then from titles, until a row fits or nothing gives way. */
function fitWidths(
  widths: number[],
  [head, ...body]: readonly (readonly string[])[],
  width: number,
  right: readonly boolean[],
): void {
  const longestWord = (text: string) => Math.max(...text.split(' ').map(displayWidth));
  const least = widths.map((_, at) =>
    right[at]
      ? Math.max(longestWord(head![at]!), ...body.map((row) => displayWidth(row[at]!)))
      : Math.min(widths[at]!, Math.max(LEAST_TEXT, longestWord(head![at]!))),
  );
  const total = () => widths.reduce((sum, wide) => sum + wide, GAP * (widths.length - 1));
  while (total() > width) {
    let widest = -1;
    for (const [at, wide] of widths.entries())
      if (wide > least[at]! && wide > (widths[widest] ?? 0)) widest = at;
    if (widest < 0) return;
    widths[widest]!--;
  }
}

/** A row as lines: words go on below where a cell is full. */
function wrappedRow(row: readonly string[], widths: readonly number[]): string[][] {
  const cells = row.map((text, at) => wrapText(text, widths[at]!));
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) => cells.map((lines) => lines[line] ?? ''));
}

/** Lines of at most so many columns, broken between words, or within one that is longer. */
export function wrapText(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!;
    const joined = line === '' ? word : `${line} ${word}`;
    if (displayWidth(joined) <= width) lines[lines.length - 1] = joined;
    else lines.splice(lines.length - Number(line === ''), 1, ...brokenWord(word, width));
  }
  return lines;
}

function brokenWord(word: string, width: number): string[] {
  const parts = [''];
  for (const char of word) {
    if (displayWidth(parts.at(-1)! + char) > width && parts.at(-1) !== '') parts.push('');
    parts[parts.length - 1] += char;
  }
  return parts;
}

function cellText(cell: Cell, digits: number | undefined): string {
  if (cell === undefined) return '–';
  return typeof cell === 'number' ? formatNumber(cell, digits) : cell;
}

/** Columns of numbers, with or without ±, and dashes. */
function isNumeric(rows: readonly (readonly Cell[])[], at: number): boolean {
  const cells = rows.map((row) => row[at]).filter((cell) => cell !== undefined && cell !== '–');
  return (
    cells.length > 0 &&
    cells.every((cell) => typeof cell === 'number' || /^[-−]?\d[\d.,e+-]*( ± [\d.,e+-]+)?$/.test(cell ?? ''))
  );
}

function padded(text: string, width: number, right: boolean): string {
  const space = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return right ? space + text : text + space;
}

/** One line without control characters, so that a label cannot steer the terminal. */
export function plainText(text: string): string {
  return text.replace(/\s/g, ' ').replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '�');
}

const markdownText = (text: string): string =>
  plainText(text).replace(/[\\`*_|<>[\]]/g, (sign) => `\\${sign}`);

const zeroWide = /^\p{M}$/u;
const doubleWide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]$/u;

/** Columns that a character takes on a terminal. */
export const charWidth = (char: string): number => (zeroWide.test(char) ? 0 : doubleWide.test(char) ? 2 : 1);

export function displayWidth(text: string): number {
  let width = 0;
  for (const char of text) width += charWidth(char);
  return width;
}

export type CsvCell = string | number | null | undefined;

/** What a spreadsheet would run, or what would be taken for text that was kept from that. */
const formula = /^'*[=+\-@\t\r\n]/;
const plainNumber = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/** Text that a spreadsheet takes as text: an apostrophe before what it would run as a formula. */
export function guardedText(text: string): string {
  return formula.test(text) && !plainNumber.test(text) ? `'${text}` : text;
}

/** The text that `guardedText` was given. */
export function restoredText(guarded: string): string {
  return guarded.startsWith("'") && formula.test(guarded) ? guarded.slice(1) : guarded;
}

function csvCellText(cell: CsvCell): string {
  if (cell === null || cell === undefined) return '';
  return typeof cell === 'number' ? String(cell) : guardedText(cell);
}

/** A table as CSV (RFC 4180): numbers in full, cells with commas, quotes or line ends in quotes, no formulas. */
export function csvText(rows: readonly (readonly CsvCell[])[]): string {
  const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return rows.map((row) => `${row.map((cell) => quoted(csvCellText(cell))).join(',')}\r\n`).join('');
}

/** Cells as a line with tabs between, no formulas; a tab or line end within a cell becomes a space. */
export function tsvLine(cells: readonly CsvCell[]): string {
  const flat = (cell: CsvCell) => (typeof cell === 'string' ? cell.replace(/[\t\r\n]+/g, ' ') : cell);
  return `${cells.map((cell) => csvCellText(flat(cell))).join('\t')}\n`;
}
