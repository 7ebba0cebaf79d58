import { Worker } from 'node:worker_threads';
import { UserError } from '../errors.ts';
import type { ParquetAnswer, ParquetRequest, ParquetTask } from './parquet-worker.ts';

/** A reader that has read nothing for this long is stopped. */
const PATIENCE_MS = 10_000;
/** Silence is counted in looks and not by the clock, so that a machine that slept does not stop a reader. */
const LOOKS = 20;
const MB = 1 << 20;
/** Memory of a reader: enough for the row groups of a file of its size, and never all of a machine's. */
const heapMb = (fileBytes: number): number => Math.min(1024, 256 + Math.ceil((8 * fileBytes) / MB));

/** TypeScript needs hooks before a worker can load it; compiled, the worker is loaded as it is. */
const entry = import.meta.url.endsWith('.ts') ? './parquet-worker-start.mjs' : './parquet-worker.js';

export interface ParquetSource {
  file: string;
  /** What faults call the file. */
  name: string;
  fileBytes: number;
  longestText: number;
  signal?: AbortSignal;
  patienceMs?: number;
}

/** Reads a file of an untrusted binary format in a thread of its own, which can be stopped whatever it does. */
export class ParquetThread {
  readonly #source: ParquetSource;
  readonly #worker: Worker;
  #fail: (reason: unknown) => void = () => {};
  readonly #progress = new Int32Array(new SharedArrayBuffer(4));

  constructor(source: ParquetSource) {
    const { file, longestText, fileBytes } = source;
    const workerData: ParquetTask = { file, longestText, progress: this.#progress.buffer };
    this.#source = source;
    this.#worker = new Worker(new URL(entry, import.meta.url), {
      workerData,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMb(fileBytes) },
    });
    this.#worker.on('error', (error) => this.#fail(this.#crash(error)));
    this.#worker.on('exit', () => this.#fail(this.#crash(new Error('its reader ended'))));
  }

  /** The answer to a request, or the first one; a fault of the file, silence and a stop are errors. */
  async ask(request?: ParquetRequest): Promise<Exclude<ParquetAnswer, { fault: string }>> {
    const coming = this.#answer();
    if (request !== undefined) this.#worker.postMessage(request);
    const answer = await coming;
    if (!('fault' in answer)) return answer;
    const { name } = this.#source;
    if (!answer.opened)
      throw new UserError(`${name} is not a Parquet file that can be read: ${answer.fault}`);
    const hint = /compress|codec/i.test(answer.fault) ? '; write it with snappy or no compression' : '';
    throw new UserError(`${name} cannot be read: ${answer.fault}${hint}`);
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #answer(): Promise<ParquetAnswer> {
    const { signal } = this.#source;
    return new Promise((resolve, reject) => {
      const stopWatching = this.#watch();
      const release = () => {
        stopWatching();
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

  /** Fails when nothing was read for long; returns what ends the watch. */
  #watch(): () => void {
    const { name, patienceMs = PATIENCE_MS } = this.#source;
    let [seen, silent] = [Atomics.load(this.#progress, 0), 0];
    const timer = setInterval(() => {
      const now = Atomics.load(this.#progress, 0);
      silent = now === seen ? silent + 1 : 0;
      seen = now;
      if (silent < LOOKS) return;
      const waited = `nothing could be read of it for ${patienceMs / 1000} seconds`;
      this.#fail(new UserError(`${name} cannot be read: ${waited}; it is damaged, write it again`));
    }, patienceMs / LOOKS);
    return () => clearInterval(timer);
  }

  #crash(error: Error): UserError {
    const { name, fileBytes } = this.#source;
    if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_OUT_OF_MEMORY')
      return new UserError(`${name} cannot be read: ${error.message.split('\n')[0]}`);
    return new UserError(
      `${name} cannot be read: a row group takes more than ${heapMb(fileBytes)} MB of memory; it is damaged, or to be written with smaller row groups`,
    );
  }
}
