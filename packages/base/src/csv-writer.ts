// Without imports, so that the explorer's page can use it too.

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

function cellText(cell: CsvCell): string {
  if (cell === null || cell === undefined) return '';
  return typeof cell === 'number' ? String(cell) : guardedText(cell);
}

/** A table as CSV (RFC 4180): numbers in full, cells with commas, quotes or line ends in quotes, no formulas. */
export function csvText(rows: readonly (readonly CsvCell[])[]): string {
  const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return rows.map((row) => `${row.map((cell) => quoted(cellText(cell))).join(',')}\r\n`).join('');
}

/** Cells as a line with tabs between, no formulas; a tab or line end within a cell becomes a space. */
export function tsvLine(cells: readonly CsvCell[]): string {
  const flat = (cell: CsvCell) => (typeof cell === 'string' ? cell.replace(/[\t\r\n]+/g, ' ') : cell);
  return `${cells.map((cell) => cellText(flat(cell))).join('\t')}\n`;
}
