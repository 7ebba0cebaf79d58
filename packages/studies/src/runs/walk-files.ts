import fs from 'node:fs';
import { moveIntoPlace, partialName, reasonOf, tsvLine, UserError } from '@hidden-schema/base';
import type { BestWalk } from '@hidden-schema/hsn';
import { type WalkColumn, walkColumns } from '@hidden-schema/text/walk-columns';
import { fileWriter, ParquetWriter } from 'hyparquet-writer';
import { product } from '../measures/symbol-uses.ts';
import type { SymbolNames } from '../symbols/names.ts';

export const WALK_FORMATS = ['tsv', 'jsonl', 'parquet'] as const;
export type WalkFormat = (typeof WALK_FORMATS)[number];

export interface WalkRow extends BestWalk {
  text: string;
}

export interface WalkFileOptions {
  /** Walks of at most this probability are marked as unsure, in a column of their own. */
  unsure?: number;
  /** Names of symbols, in which walks are written too, in a column of their own. */
  names?: SymbolNames;
}

/** Where lines go; resolves when it takes more. */
interface LineOutput {
  write(text: string): Promise<void>;
}

/** Takes sentences with their walks, a batch at a time. */
export interface WalkSink {
  write(rows: readonly WalkRow[]): Promise<void>;
  /** Nothing is under the file's name before this. */
  finish(): Promise<void>;
  /** Leaves nothing behind. */
  abandon(): void;
}

/** A sink for a format: to a file that appears when it is whole, or, but for Parquet, to a stream. */
export function walkSink(
  format: WalkFormat,
  to: string | LineOutput,
  options: WalkFileOptions = {},
): WalkSink {
  if (typeof to !== 'string') {
    if (format === 'parquet') throw new UserError('Parquet cannot be streamed; name a file with --out');
    return lineSink(format, to, options);
  }
  if (fs.statSync(to, { throwIfNoEntry: false })?.isDirectory())
    throw new UserError(`${to} is a folder; expected the name of a file to write`);
  return format === 'parquet' ? parquetFile(to, options) : lineFile(format, to, options);
}

const number = (value: number): string => String(Number(value.toPrecision(6)));

const columnsOf = ({ names, unsure }: WalkFileOptions): WalkColumn[] =>
  walkColumns([...(names ? ['names' as const] : []), ...(unsure === undefined ? [] : ['unsure' as const])]);

/** A walk in words: a symbol that it stays on is named once. */
function namesAlong(walk: readonly number[], names: SymbolNames): string[] {
  const visited = walk.filter((symbol, step) => symbol !== walk[step - 1]);
  return visited.map((symbol) => names.get(symbol) ?? `symbol ${symbol}`);
}

/** Walk, its names, its probability, that of each step, whether it is unsure, and the text: as columns of every format. */
function cells(
  { text, walk, probabilities }: WalkRow,
  { names = new Map(), unsure = Number.NaN }: WalkFileOptions,
) {
  const probability = product(probabilities);
  return {
    walk: walk.join(' '),
    names: namesAlong(walk, names).join(' → '),
    probability,
    steps: probabilities.map(number).join(' '),
    // Probabilities of stored walks are rounded, so that just the last one might be missed.
    unsure: probability <= unsure * (1 + 1e-5),
    text,
  };
}

function line(row: WalkRow, format: 'tsv' | 'jsonl', options: WalkFileOptions): string {
  const all = cells(row, options);
  if (format === 'tsv') {
    const shown = { ...all, probability: number(all.probability), unsure: Number(all.unsure) };
    return tsvLine(columnsOf(options).map((name) => shown[name]));
  }
  const record = {
    text: row.text,
    walk: row.walk,
    ...(options.names ? { names: namesAlong(row.walk, options.names) } : {}),
    probability: Number(number(all.probability)),
    steps: row.probabilities.map((p) => Number(number(p))),
    ...(options.unsure === undefined ? {} : { unsure: all.unsure }),
  };
  return `${JSON.stringify(record)}\n`;
}

const linesOf = (rows: readonly WalkRow[], format: 'tsv' | 'jsonl', options: WalkFileOptions): string =>
  rows.map((row) => line(row, format, options)).join('');

function lineSink(format: 'tsv' | 'jsonl', to: LineOutput, options: WalkFileOptions): WalkSink {
  let header = format === 'tsv' ? tsvLine(columnsOf(options)) : '';
  let begun = false;
  const write = async (rows: readonly WalkRow[]): Promise<void> => {
    const text = header + linesOf(rows, format, options);
    [header, begun] = ['', true];
    await to.write(text);
  };
  const finish = async (): Promise<void> => {
    if (!begun) await write([]);
  };
  return { write, finish, abandon: () => {} };
}

/** Beside the file there is another one to write to; it moves there when all is written. */
function beside(target: string): { partial: string } & Pick<WalkSink, 'finish' | 'abandon'> {
  const partial = partialName(target);
  try {
    fs.writeFileSync(partial, '', { flag: 'wx' });
  } catch (error) {
    throw new UserError(`cannot write ${target}: ${reasonOf(error)}`);
  }
  return {
    partial,
    finish: async () => moveIntoPlace(partial, target),
    abandon: () => fs.rmSync(partial, { force: true }),
  };
}

function lineFile(format: 'tsv' | 'jsonl', target: string, options: WalkFileOptions): WalkSink {
  const { partial, ...ends } = beside(target);
  if (format === 'tsv') fs.writeFileSync(partial, tsvLine(columnsOf(options)));
  return { ...ends, write: async (rows) => fs.appendFileSync(partial, linesOf(rows, format, options)) };
}

const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' } as const;
const types = { probability: 'DOUBLE', unsure: 'BOOLEAN' } as const;
const schemaOf = (columns: readonly WalkColumn[]) => [
  { name: 'root', num_children: columns.length },
  ...columns.map((name) =>
    name === 'probability' || name === 'unsure'
      ? ({ name, type: types[name], repetition_type: 'REQUIRED' } as const)
      : { name, ...text },
  ),
];
/** Rows of a row group: few enough to hold, enough to compress. */
const groupRows = 10_000;

function parquetFile(target: string, options: WalkFileOptions): WalkSink {
  const { partial, finish, abandon } = beside(target);
  const columns = columnsOf(options);
  const writer = new ParquetWriter({ writer: fileWriter(partial), schema: schemaOf(columns) });
  let held: WalkRow[] = [];
  const flush = async (): Promise<void> => {
    const all = held.map((row) => cells(row, options));
    held = [];
    if (all.length === 0) return;
    const columnData = columns.map((name) => ({ name, data: all.map((row) => row[name]) }));
    await writer.write({ columnData, rowGroupSize: groupRows });
  };
  return {
    write: async (rows) => {
      held.push(...rows);
      if (held.length >= groupRows) await flush();
    },
    finish: async () => {
      await flush();
      await writer.finish();
      await finish();
    },
    abandon,
  };
}
