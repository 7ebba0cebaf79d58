import fs from 'node:fs';
import { asUserError, openRegular, readRegular, reasonOf, UserError, writeAll } from '@hidden-schema/base';
import { DamagedFile } from './edit-record.ts';
import type { Run } from './run.ts';
import { maskedCrc32c } from './sums.ts';

const LINE_FEED = 0x0a;
const APPENDING = fs.constants.O_RDWR | fs.constants.O_CREAT | fs.constants.O_APPEND;

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
  /** Lines that are not as they were written, when the file was opened. */
  readonly damaged: number;
  readonly #now: () => number;
  #descriptor: number;

  /** Opens or makes the file; a last line that was cut is removed. */
  constructor(file: string, options: { now?: () => number } = {}) {
    this.file = file;
    this.#now = options.now ?? Date.now;
    this.#descriptor = asUserError(
      () => openRegular(file, { flags: APPENDING, follow: false }),
      (reason) => `cannot open ${file}: ${reason}`,
    );
    const { lines, whole } = linesOf(readAll(file));
    this.damaged = lines.filter(({ row }) => row === undefined).length;
    fs.ftruncateSync(this.#descriptor, whole);
  }

  append(step: number, epoch: number, values: Readonly<Record<string, number>>): void {
    const row = { step, epoch, time: Math.round(this.#now()) / 1000, ...values };
    const line = `${sealedLine(JSON.stringify(row))}\n`;
    const start = fs.fstatSync(this.#descriptor).size;
    try {
      writeAll(this.#descriptor, line);
    } catch (error) {
      // Half a line would hide the next one behind it.
      fs.ftruncateSync(this.#descriptor, start);
      throw new UserError(`cannot write ${this.file}: ${reasonOf(error)}; the lines before are kept`);
    }
  }

  /** Drops every row of a later step or graph sweep: a resumed run writes them again. */
  truncateAfter(step: number, sweep = Number.POSITIVE_INFINITY): void {
    const { lines } = linesOf(readAll(this.file));
    const first = lines.findIndex(({ row }) => row && (row.step > step || (row.sweep ?? 0) > sweep));
    if (first !== -1) fs.ftruncateSync(this.#descriptor, lines[first - 1]?.end ?? 0);
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
  /** Whether the last of these is half a line, as a process that was killed leaves it. */
  cut: boolean;
}

/**
 * Reads metrics, also those of a run that is writing them.
 *
 * @example
 * for (const { step, loss } of readMetrics('run/metrics.jsonl').rows) console.log(step, loss);
 */
export const readMetrics = (file: string): MetricsFile => metricsOf(linesOf(readAll(file)));

interface Line {
  row: MetricsRow | undefined;
  /** Where the next line starts. */
  end: number;
}

interface Lines {
  /** Those with their line feed: without it a line is not whole. */
  lines: Line[];
  /** Bytes of these. */
  whole: number;
  /** Whether something stands after them. */
  cut: boolean;
}

const readAll = (file: string): Buffer =>
  asUserError(
    () => readRegular(file, Number.POSITIVE_INFINITY, { follow: false }),
    (reason) => `cannot read ${file}: ${reason}`,
  );

/** The lines of bytes that begin with one. */
export function linesOf(bytes: Buffer): Lines {
  const lines: Line[] = [];
  let whole = 0;
  for (let feed = bytes.indexOf(LINE_FEED); feed !== -1; feed = bytes.indexOf(LINE_FEED, whole)) {
    const row = parseRow(bytes.toString('utf8', whole, feed));
    whole = feed + 1;
    lines.push({ row, end: whole });
  }
  return { lines, whole, cut: whole < bytes.length };
}

function metricsOf({ lines, cut }: Pick<Lines, 'lines' | 'cut'>): MetricsFile {
  const rows = lines.flatMap(({ row }) => row ?? []);
  return { rows, skipped: lines.length - rows.length + Number(cut), cut };
}

/** A line's own checksum, its last value: a file that grows and is cut has no sum as a whole. */
const SUM = /^(\{.*),"crc":"([0-9a-f]{8})"\}$/;

const crcOf = (line: string): string => maskedCrc32c(Buffer.from(line)).toString(16).padStart(8, '0');

const sealedLine = (line: string): string => `${line.slice(0, -1)},"crc":"${crcOf(line)}"}`;

/** Whether a line is as it was written; before 0.3 lines had numbers alone, and no checksum. */
function isWhole(text: string, values: readonly unknown[]): boolean {
  const [, line, crc] = SUM.exec(text) ?? [];
  if (line !== undefined) return crcOf(`${line}}`) === crc;
  return values.every((value) => value === null || typeof value === 'number');
}

/** One line; nothing where it is no metrics, or not as it was written. */
function parseRow(text: string): MetricsRow | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const row = value as Record<string, unknown>;
  if (!isWhole(text, Object.values(row))) return undefined;
  for (const [name, inner] of Object.entries(row))
    if (inner === null) row[name] = Number.NaN;
    else if (typeof inner !== 'number') delete row[name];

  return Number.isSafeInteger(row.step) && row.epoch !== undefined && row.time !== undefined
    ? (row as MetricsRow)
    : undefined;
}

/** The figures at the end of training; none before. */
export function evaluationFigures(
  run: Pick<Run, 'files' | 'path'>,
): Record<string, number | null> | undefined {
  const figures = run.files.readJson<Record<string, unknown>>('evaluation.json');
  if (figures === undefined) return undefined;
  if (typeof figures !== 'object' || figures === null || Array.isArray(figures))
    throw new DamagedFile(`${run.path('evaluation.json')} is damaged: expected figures by their names`);
  const single = Object.entries(figures).filter(([, x]) => typeof x !== 'object' || x === null);
  const pairs = single.map(([name, x]) => [name, typeof x === 'number' ? x : null]);
  return Object.fromEntries(pairs) as Record<string, number | null>;
}

const FIRST = 1 << 14;

/** The last rows of a metrics file, read from its end, so that a long run costs no more than a short one. */
export function lastMetrics(file: string, most: number): MetricsFile {
  if (!fs.lstatSync(file, { throwIfNoEntry: false })) return { rows: [], skipped: 0, cut: false };
  const descriptor = openRegular(file, { follow: false });
  try {
    let start = fs.fstatSync(descriptor).size;
    let tail = Buffer.alloc(0);
    while (start > 0 && feeds(tail) <= most) {
      // Twice as much each time.
      const chunk = Buffer.alloc(Math.min(Math.max(FIRST, tail.length), start));
      start -= chunk.length;
      const read = fs.readSync(descriptor, chunk, 0, chunk.length, start);
      tail = Buffer.concat([chunk.subarray(0, read), tail]);
    }
    // The first line is one only where the file begins with it.
    const { lines, cut } = linesOf(start === 0 ? tail : tail.subarray(tail.indexOf(LINE_FEED) + 1));
    return metricsOf({ lines: lines.slice(-most), cut });
  } finally {
    fs.closeSync(descriptor);
  }
}

const feeds = (bytes: Buffer): number => bytes.reduce((sum, byte) => sum + (byte === LINE_FEED ? 1 : 0), 0);
