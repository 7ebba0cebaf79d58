import fs from 'node:fs';
import { readRegular, reasonOf, UserError } from '@hidden-schema/base';

/** One line of `metrics.jsonl`; a value that was not finite is read back as NaN. */
export interface MetricsRow {
  step: number;
  epoch: number;
  /** Seconds since 1970. */
  time: number;
  [name: string]: number;
}

/** Appends metrics as JSON lines; every line is in the file when `append` returns. */
export class MetricsLog {
  readonly file: string;
  readonly #now: () => number;
  #descriptor: number;

  /** Opens or makes the file; a last line that was cut is removed. */
  constructor(file: string, options: { now?: () => number } = {}) {
    this.file = file;
    this.#now = options.now ?? Date.now;
    try {
      this.#descriptor = fs.openSync(file, 'a+');
    } catch (error) {
      throw new UserError(`cannot open ${file}: ${reasonOf(error)}`);
    }
    const lines = readLines(file);
    const last = lines.findLast(({ row }) => row !== undefined);
    fs.ftruncateSync(this.#descriptor, last?.end ?? 0);
  }

  append(step: number, epoch: number, values: Readonly<Record<string, number>>): void {
    const row = { step, epoch, time: Math.round(this.#now()) / 1000, ...values };
    const bytes = Buffer.from(`${JSON.stringify(row)}\n`);
    const start = fs.fstatSync(this.#descriptor).size;
    try {
      for (let done = 0; done < bytes.length; ) done += fs.writeSync(this.#descriptor, bytes, done);
    } catch (error) {
      // Half a line would hide the next one behind it.
      fs.ftruncateSync(this.#descriptor, start);
      throw new UserError(`cannot write ${this.file}: ${reasonOf(error)}; the lines before are kept`);
    }
  }

  /** Drops every row of a later step or graph sweep: a resumed run writes them again. */
  truncateAfter(step: number, sweep = Number.POSITIVE_INFINITY): void {
    const lines = readLines(this.file);
    const first = lines.findIndex(({ row }) => row && (row.step > step || (row.sweep ?? 0) > sweep));
    if (first !== -1) fs.ftruncateSync(this.#descriptor, lines[first - 1]?.end ?? 0);
  }

  /** Makes what was written survive the end of the machine. */
  sync(): void {
    fs.fsyncSync(this.#descriptor);
  }

  close(): void {
    if (this.#descriptor >= 0) fs.closeSync(this.#descriptor);
    this.#descriptor = -1;
  }
}

export interface MetricsFile {
  rows: MetricsRow[];
  /** Lines that are no metrics: cut or damaged. */
  skipped: number;
}

/**
 * Reads metrics, also those of a run that is writing them.
 *
 * @example
 * for (const { step, loss } of readMetrics('run/metrics.jsonl').rows) console.log(step, loss);
 */
export function readMetrics(file: string): MetricsFile {
  const lines = readLines(file);
  const rows = lines.flatMap(({ row }) => (row ? [row] : []));
  return { rows, skipped: lines.length - rows.length };
}

interface Line {
  row: MetricsRow | undefined;
  /** Where the next line starts. */
  end: number;
}

function readLines(file: string): Line[] {
  let bytes: Buffer;
  try {
    bytes = readRegular(file, Number.POSITIVE_INFINITY);
  } catch (error) {
    throw new UserError(`cannot read ${file}: ${reasonOf(error)}`);
  }
  const lines: Line[] = [];
  for (let start = 0; start < bytes.length; start = lines.at(-1)!.end) {
    const feed = bytes.indexOf(0x0a, start);
    const end = feed === -1 ? bytes.length : feed + 1;
    // A line is whole only with its line feed.
    lines.push({ row: feed === -1 ? undefined : parseRow(bytes.toString('utf8', start, feed)), end });
  }
  return lines;
}

/** One line; nothing where it is no metrics. */
export function parseRow(text: string): MetricsRow | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const row = value as Record<string, unknown>;
  for (const [name, inner] of Object.entries(row)) {
    if (inner === null) row[name] = Number.NaN;
    else if (typeof inner !== 'number') delete row[name];
  }
  return Number.isSafeInteger(row.step) && row.epoch !== undefined && row.time !== undefined
    ? (row as MetricsRow)
    : undefined;
}
