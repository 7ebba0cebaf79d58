import fs from 'node:fs';
import { moveIntoPlace, partialName, reasonOf, tsvLine, UserError } from '@hidden-schema/base';
import type { BestWalk } from '@hidden-schema/hsn';
import { MARKED_WALK_COLUMNS, WALK_COLUMNS } from '@hidden-schema/text/walk-columns';
import { fileWriter, ParquetWriter } from 'hyparquet-writer';
import { product } from './measures/product.ts';

export const WALK_FORMATS = ['tsv', 'jsonl', 'parquet'] as const;
export type WalkFormat = (typeof WALK_FORMATS)[number];

export interface WalkRow extends BestWalk {
  text: string;
}

export interface WalkFileOptions {
  /** Walks of at most this probability are marked as unsure, in a column of their own. */
  unsure?: number;
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
    return new LineSink(format, to, options);
  }
  if (fs.statSync(to, { throwIfNoEntry: false })?.isDirectory())
    throw new UserError(`${to} is a folder; expected the name of a file to write`);
  return format === 'parquet' ? new ParquetFile(to, options) : new LineFile(format, to, options);
}

const number = (value: number): string => String(Number(value.toPrecision(6)));

const columnsOf = ({ unsure }: WalkFileOptions) =>
  unsure === undefined ? WALK_COLUMNS : MARKED_WALK_COLUMNS;

/** Walk, its probability, that of each step, whether it is unsure, and the text: as columns of every format. */
function cells({ text, walk, probabilities }: WalkRow, { unsure = Number.NaN }: WalkFileOptions) {
  const probability = product(probabilities);
  return {
    walk: walk.join(' '),
    probability,
    steps: probabilities.map(number).join(' '),
    // Probabilities of stored walks are rounded, so that just the last one might be missed.
    unsure: probability <= unsure * (1 + 1e-5),
    text,
  };
}

function line(row: WalkRow, format: 'tsv' | 'jsonl', options: WalkFileOptions): string {
  const { walk, probability, steps, unsure, text } = cells(row, options);
  const mark = options.unsure === undefined ? [] : [unsure];
  if (format === 'tsv') return tsvLine([walk, number(probability), steps, ...mark.map(Number), text]);
  const plain = row.probabilities.map((p) => Number(number(p)));
  const record = { text, walk: row.walk, probability: Number(number(probability)), steps: plain };
  return `${JSON.stringify(options.unsure === undefined ? record : { ...record, unsure })}\n`;
}

class LineSink implements WalkSink {
  readonly #format: 'tsv' | 'jsonl';
  readonly #to: LineOutput;
  readonly #options: WalkFileOptions;
  #begun = false;

  constructor(format: 'tsv' | 'jsonl', to: LineOutput, options: WalkFileOptions) {
    this.#format = format;
    this.#to = to;
    this.#options = options;
  }

  async write(rows: readonly WalkRow[]): Promise<void> {
    const header = this.#format === 'tsv' && !this.#begun ? tsvLine(columnsOf(this.#options)) : '';
    this.#begun = true;
    await this.#to.write(header + rows.map((row) => line(row, this.#format, this.#options)).join(''));
  }

  async finish(): Promise<void> {
    if (!this.#begun) await this.write([]);
  }

  abandon(): void {}
}

/** Writes beside the file and moves there when all is written. */
abstract class FileSink implements WalkSink {
  readonly target: string;
  readonly partial: string;

  constructor(target: string) {
    this.target = target;
    this.partial = partialName(target);
    try {
      fs.writeFileSync(this.partial, '', { flag: 'wx' });
    } catch (error) {
      throw new UserError(`cannot write ${target}: ${reasonOf(error)}`);
    }
  }

  abstract write(rows: readonly WalkRow[]): Promise<void>;

  async finish(): Promise<void> {
    moveIntoPlace(this.partial, this.target);
  }

  abandon(): void {
    fs.rmSync(this.partial, { force: true });
  }
}

class LineFile extends FileSink {
  readonly #format: 'tsv' | 'jsonl';
  readonly #options: WalkFileOptions;

  constructor(format: 'tsv' | 'jsonl', target: string, options: WalkFileOptions) {
    super(target);
    this.#format = format;
    this.#options = options;
    if (format === 'tsv') fs.writeFileSync(this.partial, tsvLine(columnsOf(options)));
  }

  async write(rows: readonly WalkRow[]): Promise<void> {
    fs.appendFileSync(this.partial, rows.map((row) => line(row, this.#format, this.#options)).join(''));
  }
}

const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' } as const;
const types = { probability: 'DOUBLE', unsure: 'BOOLEAN' } as const;
const schemaOf = (columns: readonly (typeof MARKED_WALK_COLUMNS)[number][]) => [
  { name: 'root', num_children: columns.length },
  ...columns.map((name) =>
    name === 'probability' || name === 'unsure'
      ? ({ name, type: types[name], repetition_type: 'REQUIRED' } as const)
      : { name, ...text },
  ),
];
/** Rows of a row group: few enough to hold, enough to compress. */
const groupRows = 10_000;

class ParquetFile extends FileSink {
  readonly #writer: ParquetWriter;
  readonly #options: WalkFileOptions;
  #rows: WalkRow[] = [];

  constructor(target: string, options: WalkFileOptions) {
    super(target);
    this.#options = options;
    this.#writer = new ParquetWriter({
      writer: fileWriter(this.partial),
      schema: schemaOf(columnsOf(options)),
    });
  }

  async write(rows: readonly WalkRow[]): Promise<void> {
    this.#rows.push(...rows);
    if (this.#rows.length >= groupRows) await this.#flush();
  }

  override async finish(): Promise<void> {
    await this.#flush();
    await this.#writer.finish();
    await super.finish();
  }

  async #flush(): Promise<void> {
    const all = this.#rows.map((row) => cells(row, this.#options));
    this.#rows = [];
    if (all.length === 0) return;
    const columnData = columnsOf(this.#options).map((name) => ({ name, data: all.map((row) => row[name]) }));
    await this.#writer.write({ columnData, rowGroupSize: groupRows });
  }
}
