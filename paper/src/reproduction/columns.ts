import type { Column } from '@hidden-schema/base/tables';
import type { Sheet, SheetCell } from '@hidden-schema/studies/drawing/sheets';

/** A column with what stands in it. */
export type FilledColumn<Row> = Column & { of: (row: Row) => SheetCell };

/** Columns and rows of a sheet, from one list of both. */
export function filled<Row>(
  columns: readonly FilledColumn<Row>[],
  rows: readonly Row[],
): Pick<Sheet, 'columns' | 'rows'> {
  return {
    columns: columns.map(({ of: _, ...column }) => column),
    rows: rows.map((row) => columns.map(({ of }) => of(row))),
  };
}
