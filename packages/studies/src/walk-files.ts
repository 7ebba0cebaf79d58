import fs from 'node:fs';
import { reasonOf, tsvLine, UserError } from '@hidden-schema/base';
import type { BestWalk } from '@hidden-schema/hsn';
import { WALK_COLUMNS } from '@hidden-schema/text';
import { fileWriter, ParquetWriter } from 'hyparquet-writer';

export const WALK_FORMATS = ['tsv', 'jsonl', 'parquet'] as const;
export type WalkFormat = (typeof WALK_FORMATS)[number];

export interface WalkRow extends BestWalk {
  text: string;
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
export function walkSink(format: WalkFormat, to: string | LineOutput): WalkSink {
  if (typeof to !== 'string') {
    if (format === 'parquet') throw new UserError('Parquet cannot be streamed; name a file with --out');
    return new LineSink(format, to);
  }
  if (fs.statSync(to, { throwIfNoEntry: false })?.isDirectory())
    throw new UserError(`${to} is a folder; expected the name of a file to write`);
  return format === 'parquet' ? new ParquetFile(to) : new LineFile(format, to);
}

const number = (value: number): string => String(Number(value.toPrecision(6)));
const product = (values: readonly number[]): number => values.reduce((all, p) => all * p, 1);

const tsvHeader = tsvLine(WALK_COLUMNS);

/** Walk, its probability, that of each step, and the text: as columns of every format. */
function cells({ text, walk, probabilities }: WalkRow) {
  return {
    walk: walk.join(' '),
    probability: product(probabilities),
    steps: probabilities.map(number).join(' '),
    text,
  };
}

function line(row: WalkRow, format: 'tsv' | 'jsonl'): string {
  const { walk, probability, steps, text } = cells(row);
  if (format === 'tsv') return tsvLine([walk, number(probability), steps, text]);
  const plain = row.probabilities.map((p) => Number(number(p)));
  return `${JSON.stringify({ text, walk: row.walk, probability: Number(number(probability)), steps: plain })}\n`;
}

class LineSink implements WalkSink {
  readonly #format: 'tsv' | 'jsonl';
  readonly #to: LineOutput;
  #begun = false;

  constructor(format: 'tsv' | 'jsonl', to: LineOutput) {
    this.#format = format;
    this.#to = to;
  }

  async write(rows: readonly WalkRow[]): Promise<void> {
    const header = this.#format === 'tsv' && !this.#begun ? tsvHeader : '';
    this.#begun = true;
    await this.#to.write(header + rows.map((row) => line(row, this.#format)).join(''));
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
    this.partial = `${target}.${process.pid}.partial`;
    try {
      fs.writeFileSync(this.partial, '', { flag: 'wx' });
    } catch (error) {
      throw new UserError(`cannot write ${target}: ${reasonOf(error)}`);
    }
  }

  abstract write(rows: readonly WalkRow[]): Promise<void>;

  async finish(): Promise<void> {
    fs.renameSync(this.partial, this.target);
  }

  abandon(): void {
    fs.rmSync(this.partial, { force: true });
  }
}

class LineFile extends FileSink {
  readonly #format: 'tsv' | 'jsonl';

  constructor(format: 'tsv' | 'jsonl', target: string) {
    super(target);
    this.#format = format;
    if (format === 'tsv') fs.writeFileSync(this.partial, tsvHeader);
  }

  async write(rows: readonly WalkRow[]): Promise<void> {
    fs.appendFileSync(this.partial, rows.map((row) => line(row, this.#format)).join(''));
  }
}

const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' } as const;
const schema = [
  { name: 'root', num_children: WALK_COLUMNS.length },
  ...WALK_COLUMNS.map((name) =>
    name === 'probability'
      ? ({ name, type: 'DOUBLE', repetition_type: 'REQUIRED' } as const)
      : { name, ...text },
  ),
];
/** Rows of a row group: few enough to hold, enough to compress. */
const groupRows = 10_000;

class ParquetFile extends FileSink {
  readonly #writer: ParquetWriter;
  #rows: WalkRow[] = [];

  constructor(target: string) {
    super(target);
    this.#writer = new ParquetWriter({ writer: fileWriter(this.partial), schema });
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
    const all = this.#rows.map(cells);
    this.#rows = [];
    if (all.length === 0) return;
    const columnData = WALK_COLUMNS.map((name) => ({ name, data: all.map((row) => row[name]) }));
    await this.#writer.write({ columnData, rowGroupSize: groupRows });
  }
}
