import type { CsvCell as Cell } from '@hidden-schema/base/csv';
import type { ComponentChildren, HTMLAttributes, TableHTMLAttributes } from 'preact';

/** A column of a table on the page. */
export interface Column<T> {
  /** Its heading; a table without any has no head. */
  head?: ComponentChildren;
  cell(row: T, at: number): ComponentChildren;
  class?: string;
  /** What names the row. */
  names?: boolean;
}

interface DataTableProps<T> extends Omit<TableHTMLAttributes<HTMLTableElement>, 'rows'> {
  of: readonly T[];
  /** Those that are false are left out. */
  columns: readonly (Column<T> | false)[];
  /** Attributes of a row. */
  rowOf?(
    row: T,
    at: number,
  ): HTMLAttributes<HTMLTableRowElement> & Readonly<Record<`data-${string}`, unknown>>;
}

/** Rows as a table. */
export function DataTable<T>({ of, columns, rowOf, ...table }: DataTableProps<T>) {
  const shown = columns.filter((column) => column !== false);
  return (
    <table {...table}>
      {shown.some(({ head }) => head !== undefined) ? (
        <thead>
          <tr>
            {shown.map(({ head }, at) => (
              <th key={at}>{head}</th>
            ))}
          </tr>
        </thead>
      ) : null}
      <tbody>
        {of.map((row, at) => (
          <tr key={at} {...rowOf?.(row, at)}>
            {shown.map(({ cell, names, class: of }, place) =>
              names ? (
                <th key={place} scope="row" class={of}>
                  {cell(row, at)}
                </th>
              ) : (
                <td key={place} class={of}>
                  {cell(row, at)}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Rows as a file has them: columns by their heading, each a field of a row or what is made of one. */
export const csvOf =
  <T extends object>(
    of: readonly T[],
    columns: Readonly<Record<string, keyof T | ((row: T, at: number) => Cell)>>,
  ) =>
  (): Cell[][] => {
    const cells = Object.values(columns);
    const rows = of.map((row, at) =>
      // A field that a column names holds a cell.
      cells.map((cell) => (typeof cell === 'function' ? cell(row, at) : (row[cell] as Cell))),
    );
    return [Object.keys(columns), ...rows];
  };
