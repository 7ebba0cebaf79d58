import fs from 'node:fs';
import { csvText, reasonOf, UserError, writeAll, writeBeside } from '@hidden-schema/base';
import { fileWriter, ParquetWriter } from 'hyparquet-writer';

export const TABLE_FORMATS = ['csv', 'jsonl', 'parquet'] as const;
export type TableFormat = (typeof TABLE_FORMATS)[number];

/** A cell; lists are lists in JSONL, and text with spaces between (names: with "; ") elsewhere. */
export type TableValue = string | number | boolean | null | readonly string[] | readonly number[];

/** A table for other programs, row after row. */
export interface TableData {
  /** Names of the columns in order, with what they hold. */
  readonly columns: Readonly<Record<string, 'text' | 'integer' | 'number' | 'truth' | 'list'>>;
  readonly rows: Iterable<readonly TableValue[]>;
}

const rowsAtOnce = 5000;

/** Writes a table beside its name and moves it there when all is written; returns how many rows it has. */
export async function writeTable(file: string, format: TableFormat, table: TableData): Promise<number> {
  if (fs.statSync(file, { throwIfNoEntry: false })?.isDirectory())
    throw new UserError(`${file} is a folder; expected the name of a file to write`);
  try {
    return await writeBeside(file, (partial) =>
      format === 'parquet' ? writeParquet(partial, table) : writeLines(partial, format, table),
    );
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw new UserError(`cannot write ${file}: ${reasonOf(error)}`);
  }
}

function* pieces<T>(rows: Iterable<T>): Generator<T[]> {
  let piece: T[] = [];
  for (const row of rows) {
    piece.push(row);
    if (piece.length < rowsAtOnce) continue;
    yield piece;
    piece = [];
  }
  if (piece.length > 0) yield piece;
}

/** A list as one text: numbers with spaces between; names, which have spaces themselves, with semicolons. */
function flat(value: TableValue): string | number | boolean | null {
  if (value === null || typeof value !== 'object') return value;
  return value.join(typeof value[0] === 'string' ? '; ' : ' ');
}

const csvCell = (value: TableValue) => {
  const cell = flat(value);
  return typeof cell === 'boolean' ? Number(cell) : cell;
};

async function writeLines(
  file: string,
  format: 'csv' | 'jsonl',
  { columns, rows }: TableData,
): Promise<number> {
  const names = Object.keys(columns);
  const out = fs.openSync(file, 'wx');
  let count = 0;
  try {
    if (format === 'csv') writeAll(out, csvText([names]));
    for (const piece of pieces(rows)) {
      count += piece.length;
      const lines = () =>
        piece
          .map((row) => `${JSON.stringify(Object.fromEntries(names.map((name, at) => [name, row[at]])))}\n`)
          .join('');
      writeAll(out, format === 'csv' ? csvText(piece.map((row) => row.map(csvCell))) : lines());
    }
    fs.fsyncSync(out);
  } finally {
    fs.closeSync(out);
  }
  return count;
}

const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const;
const types = {
  text,
  list: text,
  integer: { type: 'INT32' },
  number: { type: 'DOUBLE' },
  truth: { type: 'BOOLEAN' },
} as const;

async function writeParquet(file: string, { columns, rows }: TableData): Promise<number> {
  const names = Object.keys(columns);
  const schema = [
    { name: 'root', num_children: names.length },
    ...names.map((name) => ({ name, repetition_type: 'OPTIONAL' as const, ...types[columns[name]!] })),
  ];
  // Made first, so that a name that cannot be written to is told as such.
  fs.writeFileSync(file, '', { flag: 'wx' });
  const writer = new ParquetWriter({ writer: fileWriter(file), schema });
  let count = 0;
  for (const piece of pieces(rows)) {
    count += piece.length;
    const columnData = names.map((name, at) => ({ name, data: piece.map((row) => flat(row[at]!)) }));
    await writer.write({ columnData, rowGroupSize: rowsAtOnce });
  }
  await writer.finish();
  return count;
}
