import { Worker } from 'node:worker_threads';
import { Fault } from './fault.ts';
import {
  type Message,
  type Report,
  SHARED,
  type TaskAnswer,
  type TaskInput,
  type TaskName,
} from './tasks.ts';

interface Waiting {
  id: number;
  name: TaskName;
  input: unknown;
  resolve(value: unknown): void;
  reject(error: Error): void;
  /** Takes the listener of the client's leaving away. */
  settle(): void;
}

/** Hands tasks to a worker thread, one after the other; few may wait, and those of clients that left are dropped. */
export class Inference {
  readonly #run: string;
  readonly #limit: number;
  readonly #waiting: Waiting[] = [];
  readonly #shared = new Int32Array(new SharedArrayBuffer(4 * SHARED.slots));
  #worker: Worker | undefined;
  #current: Waiting | undefined;
  #count = 0;
  #closed = false;
  #doing: string | undefined;

  constructor(run: string, limit: number) {
    this.#run = run;
    this.#limit = limit;
  }

  /** Tasks that wait, the one in work included. */
  get load(): number {
    return this.#waiting.length + (this.#current ? 1 : 0);
  }

  /** What the worker is at, where that takes long. */
  get doing(): string | undefined {
    return this.#doing;
  }

  /** Tokens that the worker has written for all tasks so far. */
  get tokens(): number {
    return Atomics.load(this.#shared, SHARED.tokens);
  }

  ask<N extends TaskName>(name: N, input: TaskInput<N>, signal?: AbortSignal): Promise<TaskAnswer<N>> {
    if (this.#closed) return Promise.reject(new Fault(503, 'closing', 'the explorer is ending'));
    if (this.#waiting.length >= this.#limit)
      return Promise.reject(new Fault(429, 'busy', 'too many requests are waiting; try again in a moment'));
    return new Promise((resolve, reject) => {
      const leave = () => this.#drop(task);
      const settle = () => signal?.removeEventListener('abort', leave);
      const task: Waiting = {
        id: this.#count++,
        name,
        input,
        resolve: resolve as Waiting['resolve'],
        reject,
        settle,
      };
      if (signal?.aborted) return reject(left());
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiting.push(task);
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const error = new Fault(503, 'closing', 'the explorer is ending');
    for (const task of [...this.#waiting.splice(0), ...(this.#current ? [this.#current] : [])])
      task.reject(error);
    this.#current = undefined;
    await this.#worker?.terminate();
  }

  /** A task that has not begun never will; one in work is told, and ends when it looks up, at the next token. */
  #drop(task: Waiting): void {
    const at = this.#waiting.indexOf(task);
    if (at >= 0) this.#waiting.splice(at, 1);
    else if (this.#current === task) {
      Atomics.store(this.#shared, SHARED.left, task.id + 1);
      this.#post({ leave: task.id });
    }
    task.reject(left());
  }

  #next(): void {
    if (this.#current || this.#closed) return;
    const task = this.#waiting.shift();
    if (!task) return;
    this.#current = task;
    this.#worker ??= this.#start();
    const { id, name, input } = task;
    this.#post({ task: { id, name, input } as Extract<Message, { task: unknown }>['task'] });
  }

  #post(message: Message): void {
    this.#worker?.postMessage(message);
  }

  #start(): Worker {
    const worker = new Worker(new URL('./worker-start.mjs', import.meta.url), {
      workerData: { run: this.#run, memory: this.#shared.buffer },
      execArgv: [],
    });
    worker.on('message', (report: Report) => this.#take(report));
    worker.on('error', (error) => this.#fail(worker, error));
    worker.on('exit', (code) => this.#fail(worker, new Error(`the worker ended with code ${code}`)));
    worker.unref();
    return worker;
  }

  #take(report: Report): void {
    if ('doing' in report) {
      this.#doing = report.doing;
      return;
    }
    const task = this.#current;
    if (task?.id !== report.id) return;
    const { value, fault } = report;
    this.#doing = undefined;
    this.#current = undefined;
    task.settle();
    if (fault) task.reject(new Fault(fault.status, fault.code, fault.message));
    else task.resolve(value);
    this.#next();
  }

  /** A worker that broke loses its task; the next one gets a new worker. */
  #fail(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    const message = error instanceof Error ? error.message : String(error);
    this.#current?.settle();
    this.#current?.reject(new Fault(500, 'internal', `the model's worker broke: ${message}`));
    this.#current = undefined;
    this.#next();
  }
}

const left = () => new Fault(499, 'left', 'the client left');
