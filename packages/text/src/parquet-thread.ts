import { Worker } from 'node:worker_threads';
import { UserError } from '@hidden-schema/base';
import type { ParquetAnswer, ParquetRequest } from './parquet-worker.ts';

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
  signal?: AbortSignal;
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
