import { Worker } from 'node:worker_threads';
import { UserError } from '@hidden-schema/base';
import { findColumns, type RecordSettings, typedRecord } from './columns.ts';
import type { CorpusReport } from './corpus-report.ts';
import { firstBadByte } from './decoding.ts';
import type { ParquetAnswer, ParquetPiece, ParquetRequest } from './parquet-worker.ts';
import type { TextRecord } from './settings.ts';

export interface ParquetFile extends Waiting {
  file: string;
  onBytes?: (count: number) => void;
}

/** Rows of a Parquet file, the columns wanted of one row group at a time, read by a thread that can be stopped. */
export async function* parquetRecords(
  source: ParquetFile,
  settings: RecordSettings,
  report: CorpusReport,
): AsyncGenerator<TextRecord> {
  const thread = ParquetThread.take();
  try {
    const header = await thread.ask({ file: source.file, longestText: settings.longestLine }, source);
    if (!('names' in header)) return;
    const { text, label } = findColumns(header.names, settings, source.name);
    const columns = [
      ...new Set([text, ...(label === undefined ? [] : [label]), ...(settings.further ?? [])]),
    ];
    const labelAt = label === undefined ? -1 : columns.indexOf(label);
    const further = settings.further?.map((name) => columns.indexOf(name));
    const place: Place = { name: source.name, columns, labelAt, further, before: 0 };
    let answer = await thread.ask({ columns }, source);
    for (; 'piece' in answer; answer = await thread.ask('next', source)) {
      const { piece } = answer;
      yield* pieceRecords(piece, place, report);
      place.before += piece.rows.length;
      source.onBytes?.(piece.bytes);
    }
  } finally {
    await thread.release();
  }
}

/** Where rows stand: in which columns of which file, after how many others. */
interface Place {
  name: string;
  columns: readonly string[];
  /** Number of the label's column, which may be that of the text; -1 without labels. */
  labelAt: number;
  /** Those of the further columns, where some are wanted. */
  further: number[] | undefined;
  before: number;
}

function* pieceRecords(
  { rows, cut }: ParquetPiece,
  place: Place,
  report: CorpusReport,
): Generator<TextRecord> {
  const short = new Set(cut);
  for (const [at, row] of rows.entries()) {
    const line = place.before + at + 1;
    const where = `${place.name}:${line}`;
    report.lines++;
    const decoded = decodeRow(row, place.columns, where, report);
    if (!decoded) continue;
    const label = place.labelAt < 0 ? undefined : decoded[place.labelAt];
    const values = place.further?.map((column) => decoded[column]);
    yield {
      ...typedRecord({ text: decoded[0], label, values }, place.columns[0]!, where, line),
      cut: short.has(at),
    };
  }
}

/** Bytes that are not UTF-8 as text by the policy; nothing where the row is to be left out. */
function decodeRow(
  row: readonly unknown[],
  columns: readonly string[],
  where: string,
  report: CorpusReport,
): unknown[] | undefined {
  let damaged = false;
  const decoded = row.map((value, at) => {
    if (!(value instanceof Uint8Array)) return value;
    damaged = true;
    const bytes = Buffer.from(value);
    if (report.badUtf8.policy !== 'error') return bytes.toString('utf8');
    const bad = firstBadByte(bytes);
    throw new UserError(
      `${where}:${bad.place} is not valid UTF-8 in column "${columns[at]}" (byte ${bad.value}); mend the file, or choose --on-bad-utf8 replace or skip`,
    );
  });
  if (damaged) report.badUtf8.lines++;
  return damaged && report.badUtf8.policy === 'skip' ? undefined : decoded;
}

/** A reader that has read nothing for this long is stopped. */
const PATIENCE_MS = 10_000;
/** Silence is counted in looks and not by the clock, so that a machine that slept does not stop a reader. */
const LOOKS = 20;
/** Memory for what a row group becomes; its bytes lie outside. */
const HEAP_MB = 1024;

/** TypeScript needs hooks before a worker can load it; compiled, the worker is loaded as it is. */
const entry = import.meta.url.endsWith('.ts') ? './parquet-worker-start.mjs' : './parquet-worker.js';

/** Of which file an answer is awaited, and what ends the waiting. */
export interface Waiting {
  /** What faults call the file. */
  name: string;
  signal?: AbortSignal | undefined;
  /** Milliseconds without progress after which a file is given up. */
  patienceMs?: number;
}

/** Reads files of an untrusted binary format in a thread of its own, which can be stopped whatever it does. */
export class ParquetThread {
  /** The thread that waits for the next file: starting one takes longer than reading a small file. */
  static #idle: ParquetThread | undefined;
  readonly #worker: Worker;
  readonly #progress = new Int32Array(new SharedArrayBuffer(4));
  #name = '';
  /** Asked, and without an answer so far. */
  #busy = false;
  #fail: (reason: unknown) => void = () => {};

  private constructor() {
    this.#worker = new Worker(new URL(entry, import.meta.url), {
      workerData: this.#progress.buffer,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    this.#worker.on('error', (error) => this.#fail(this.#crash(error)));
    this.#worker.on('exit', () => {
      if (ParquetThread.#idle === this) ParquetThread.#idle = undefined;
      this.#fail(this.#crash(new Error('its reader ended')));
    });
  }

  static take(): ParquetThread {
    const thread = ParquetThread.#idle ?? new ParquetThread();
    ParquetThread.#idle = undefined;
    thread.#worker.ref();
    return thread;
  }

  /** Keeps the thread for the next file where it waits to be asked; else ends it. */
  async release(): Promise<void> {
    this.#fail = () => {};
    if (this.#busy || ParquetThread.#idle) {
      await this.#worker.terminate();
      return;
    }
    this.#worker.postMessage('leave' satisfies ParquetRequest);
    ParquetThread.#idle = this;
    // An idle thread must not keep the process alive.
    this.#worker.unref();
  }

  /** The answer to a request; a fault of the file, silence and a stop are errors. */
  async ask(request: ParquetRequest, waiting: Waiting): Promise<Exclude<ParquetAnswer, { fault: string }>> {
    this.#name = waiting.name;
    const coming = this.#answer(waiting);
    this.#worker.postMessage(request);
    this.#busy = true;
    const answer = await coming;
    this.#busy = false;
    if (!('fault' in answer)) return answer;
    const { fault, opened } = answer;
    if (!opened) throw new UserError(`${waiting.name} is not a Parquet file that can be read: ${fault}`);
    const hint = /compress|codec/i.test(fault) ? '; write it with snappy or no compression' : '';
    throw new UserError(`${waiting.name} cannot be read: ${fault}${hint}`);
  }

  #answer({ signal, patienceMs = PATIENCE_MS }: Waiting): Promise<ParquetAnswer> {
    return new Promise((resolve, reject) => {
      const timer = setInterval(this.#looker(patienceMs), patienceMs / LOOKS);
      const release = () => {
        clearInterval(timer);
        this.#worker.off('message', onAnswer);
        signal?.removeEventListener('abort', onStop);
      };
      const onAnswer = (answer: ParquetAnswer) => {
        release();
        resolve(answer);
      };
      this.#fail = (reason) => {
        release();
        reject(reason);
      };
      const onStop = () => this.#fail(signal?.reason);
      this.#worker.on('message', onAnswer);
      signal?.addEventListener('abort', onStop);
      if (signal?.aborted) onStop();
    });
  }

  /** Looks now and then whether something was read, and fails when nothing was for long. */
  #looker(patienceMs: number): () => void {
    let [seen, silent] = [Atomics.load(this.#progress, 0), 0];
    return () => {
      const now = Atomics.load(this.#progress, 0);
      silent = now === seen ? silent + 1 : 0;
      seen = now;
      if (silent < LOOKS) return;
      const waited = `nothing could be read of it for ${patienceMs / 1000} seconds`;
      this.#fail(new UserError(`${this.#name} cannot be read: ${waited}; it is damaged, write it again`));
    };
  }

  #crash(error: Error): UserError {
    const full = (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
    const why = full
      ? `it takes more than ${HEAP_MB} MB of memory; it is damaged, or to be written with smaller row groups`
      : error.message.split('\n')[0];
    return new UserError(`${this.#name} cannot be read: ${why}`);
  }
}
