import {
  type Cell,
  type Column,
  csvText,
  formatMeanSd,
  formatTable,
  type MeanSd,
  type TableFormat,
} from '@hidden-schema/base';

export type SheetCell = Cell | MeanSd;

/** A table that can be shown, and kept as CSV and JSON. */
export interface Sheet {
  /** Of its files. */
  name: string;
  title: string;
  caption?: string;
  columns: readonly Column[];
  rows: readonly (readonly SheetCell[])[];
}

/** Columns by their titles, each with the digits of its numbers or how it is aligned; null leaves both as they come. */
export const columnsOf = (of: Readonly<Record<string, number | 'left' | 'right' | null>>): Column[] =>
  Object.entries(of).map(([title, how]) => {
    if (how === null) return { title };
    return typeof how === 'number' ? { title, digits: how } : { title, align: how };
  });

/** The first words of a list in one cell; an empty one where there are none. */
export const wordCell = (words: readonly { word: string }[], most: number): string | undefined =>
  words
    .slice(0, most)
    .map(({ word }) => word)
    .join(' ') || undefined;

const isMean = (cell: SheetCell): cell is MeanSd => typeof cell === 'object';

/** A sheet as text; on a terminal of `width` columns. */
export function sheetText({ columns, rows }: Sheet, format: TableFormat, width?: number): string {
  return formatTable(columns, shownRows(columns, rows), format, width);
}

/** Cells as they are shown: means with their deviations. */
export function shownRows(columns: Sheet['columns'], rows: Sheet['rows']): Cell[][] {
  return rows.map((row) =>
    row.map((cell, at) => (isMean(cell) ? formatMeanSd(cell, columns[at]?.digits) : cell)),
  );
}

/** Numbers in full; a mean has its standard deviation in a column of its own. */
export function sheetCsv({ columns, rows }: Sheet): string {
  const wide = columns.map((_, at) => rows.some((row) => isMean(row[at])));
  const head = columns.flatMap(({ title }, at) => (wide[at] ? [title, `${title} sd`] : [title]));
  const body = rows.map((row) =>
    columns.flatMap((_, at): Cell[] => {
      const cell = row[at];
      if (isMean(cell)) return [cell.mean, cell.sd];
      return wide[at] ? [cell, undefined] : [cell];
    }),
  );
  return csvText([head, ...body]);
}
