import fs from 'node:fs';
import path from 'node:path';
import { clientLeft, closing, Fault, queueFull } from './fault.ts';
import type { Limits } from './limits.ts';
import { ModelProcess } from './model-process.ts';
import type { Message, Outcome, Report, TaskAnswer, TaskInput, TaskName } from './tasks.ts';

interface Waiting {
  id: number;
  name: TaskName;
  input: unknown;
  resolve(value: unknown): void;
  reject(error: Error): void;
  /** Takes the listener of the client's leaving away. */
  settle(): void;
}

export type InferenceLimits = Pick<Limits, 'queue' | 'silence'>;

/** A run whose process broke is tried again when its files have changed, or after this many milliseconds. */
const RETRY = 60_000;

/** Hands tasks to a model's process, one after the other; few may wait, and those of clients that left are dropped. */
export class Inference {
  readonly #run: string;
  readonly #limits: InferenceLimits;
  readonly #waiting: Waiting[] = [];
  #process: ModelProcess | undefined;
  #current: Waiting | undefined;
  #count = 0;
  #closed = false;
  #doing: string | undefined;
  #broken: { fault: Fault; files: string; at: number } | undefined;
  #watch: NodeJS.Timeout | undefined;

  constructor(run: string, limits: InferenceLimits) {
    this.#run = run;
    this.#limits = limits;
  }

  /** Tasks that wait, the one in work included. */
  get load(): number {
    return this.#waiting.length + (this.#current ? 1 : 0);
  }

  /** What the model is at, where that takes long. */
  get doing(): string | undefined {
    return this.#doing;
  }

  /** Tokens that the model has written for all tasks so far. */
  get tokens(): number {
    return this.#process?.tokens ?? 0;
  }

  ask<N extends TaskName>(name: N, input: TaskInput<N>, signal?: AbortSignal): Promise<TaskAnswer<N>> {
    const refused = this.#refusal();
    if (refused) return Promise.reject(refused);
    return new Promise((resolve, reject) => {
      const leave = () => this.#drop(task);
      const settle = () => signal?.removeEventListener('abort', leave);
      const settles = { resolve: resolve as Waiting['resolve'], reject, settle };
      const task: Waiting = { id: this.#count++, name, input, ...settles };
      if (signal?.aborted) return reject(clientLeft());
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiting.push(task);
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#watch);
    this.#rejectAll(closing());
    await this.#process?.close();
  }

  #refusal(): Fault | undefined {
    if (this.#closed) return closing();
    if (this.#waiting.length >= this.#limits.queue) return queueFull();
    if (!this.#broken) return undefined;
    const { fault, files, at } = this.#broken;
    if (performance.now() - at < RETRY && files === runFiles(this.#run)) return fault;
    this.#broken = undefined;
    return undefined;
  }

  #rejectAll(fault: Fault): void {
    for (const task of [...this.#waiting.splice(0), ...(this.#current ? [this.#current] : [])]) {
      task.settle();
      task.reject(fault);
    }
    this.#current = undefined;
  }

  /** A task that has not begun never will; one in work is told, and ends when it looks up, at the next token. */
  #drop(task: Waiting): void {
    const at = this.#waiting.indexOf(task);
    if (at >= 0) this.#waiting.splice(at, 1);
    else if (this.#current === task) this.#process?.post({ leave: task.id });
    task.reject(clientLeft());
  }

  #next(): void {
    if (this.#current || this.#closed) return;
    const task = this.#waiting.shift();
    if (!task) return;
    this.#current = task;
    this.#process ??= this.#start();
    const { id, name, input } = task;
    this.#process.post({ task: { id, name, input } as Extract<Message, { task: unknown }>['task'] });
    this.#watchOver(this.#process);
  }

  #start(): ModelProcess {
    const started: ModelProcess = new ModelProcess(
      this.#run,
      (report) => this.#take(report),
      (reason) => this.#fail(started, reason),
    );
    return started;
  }

  /** Ends a process that has given no sign of life for too long. */
  #watchOver(watched: ModelProcess): void {
    clearInterval(this.#watch);
    const { silence } = this.#limits;
    let sign = '';
    let at = performance.now();
    const look = () => {
      if (!this.#current || this.#process !== watched) {
        clearInterval(this.#watch);
        return;
      }
      const now = `${this.#current.id} ${this.#doing} ${watched.tokens}`;
      if (now !== sign) at = performance.now();
      sign = now;
      if (performance.now() - at < silence) return;
      void watched.close();
      this.#fail(watched, `no sign of life for ${Math.round(silence / 1000)} s`);
    };
    this.#watch = setInterval(look, Math.min(1000, silence / 4)).unref();
  }

  #take(report: Report): void {
    if ('doing' in report) this.#doing = report.doing;
    else if ('id' in report) this.#finish(report);
  }

  #finish({ id, value, fault }: Outcome): void {
    const task = this.#current;
    if (task?.id !== id) return;
    this.#doing = undefined;
    this.#current = undefined;
    task.settle();
    if (fault) task.reject(new Fault(fault.status, fault.code, fault.message));
    else task.resolve(value);
    this.#next();
  }

  /** A process that broke loses its task; if it broke while the model was opened, the run itself is broken. */
  #fail(ended: ModelProcess, reason: string): void {
    if (this.#process !== ended) return;
    this.#process = undefined;
    const at = this.#doing ?? 'opening the model';
    this.#doing = undefined;
    if (ended.ready) {
      const message = `the process of this run's model ended at this request (${reason}); it is started again for the next`;
      this.#current?.settle();
      this.#current?.reject(new Fault(500, 'broken', message));
      this.#current = undefined;
      this.#next();
    } else {
      const message = `this run is broken: its process ended while ${at} (${reason}); other runs are not touched`;
      const fault = new Fault(409, 'broken', message);
      this.#broken = { fault, files: runFiles(this.#run), at: performance.now() };
      this.#rejectAll(fault);
    }
  }
}

/** Says whether anything that a model is opened from has changed. */
export const runFiles = (directory: string): string =>
  filesStamp(directory, [
    'run.json',
    'config.yaml',
    'tokenizer.json',
    'checkpoints',
    'checkpoints/best.json',
    'paths',
  ]);

/** Another text when one of these files is another. */
export function filesStamp(directory: string, names: readonly string[]): string {
  const stamps = names.map((name) => {
    try {
      const { mtimeMs, size, ino } = fs.lstatSync(path.join(directory, name));
      return `${mtimeMs} ${size} ${ino}`;
    } catch {
      return '';
    }
  });
  return stamps.join();
}
