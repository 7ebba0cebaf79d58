import { busy, clientLeft, closing, type Fault, queueFull } from './fault.ts';
import { Inference, type InferenceLimits } from './inference.ts';
import type { Limits } from './limits.ts';
import type { TaskAnswer, TaskInput, TaskName } from './tasks.ts';

export type ModelLimits = InferenceLimits & Pick<Limits, 'open' | 'wait'>;

interface Open {
  inference: Inference;
  /** Requests that have it now; it is not closed under them. */
  users: number;
  /** When it was last asked. */
  asked: number;
}

interface Waiter {
  directory: string;
  admit(open: Open): void;
  refuse(fault: Fault): void;
}

/** Models of several runs, of which few are open at once; a further one closes the one that was longest not asked. */
export class Models {
  readonly #limits: ModelLimits;
  readonly #open = new Map<string, Open>();
  readonly #closing = new Set<Promise<void>>();
  #waiting: Waiter[] = [];
  #count = 0;
  #closed = false;

  constructor(limits: ModelLimits) {
    this.#limits = limits;
  }

  /** Processes that there are now, those that are ending included. */
  get processes(): number {
    return this.#open.size + this.#closing.size;
  }

  isOpen(directory: string): boolean {
    return this.#open.has(directory);
  }

  /** What a run's model is at, where that takes long. */
  doing(directory: string): string | undefined {
    if (this.#waiting.some((waiter) => waiter.directory === directory))
      return 'waiting until another run’s model is done';
    return this.#open.get(directory)?.inference.doing;
  }

  async ask<N extends TaskName>(
    directory: string,
    name: N,
    input: TaskInput<N>,
    signal?: AbortSignal,
  ): Promise<TaskAnswer<N>> {
    const known = this.#open.get(directory);
    if (known) known.users++;
    const open = known ?? (await this.#admitted(directory, signal));
    open.asked = ++this.#count;
    try {
      return await open.inference.ask(name, input, signal);
    } finally {
      open.users--;
      this.#next();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { refuse } of this.#waiting.splice(0)) refuse(closing());
    await Promise.all([
      ...[...this.#open.values()].map(({ inference }) => inference.close()),
      ...this.#closing,
    ]);
  }

  /** Waits until the run's model may be open; it counts as used from then on. */
  #admitted(directory: string, signal: AbortSignal | undefined): Promise<Open> {
    if (this.#closed) return Promise.reject(closing());
    if (this.#waiting.length >= this.#limits.queue) return Promise.reject(queueFull());
    return new Promise((resolve, reject) => {
      const refuse = (fault: Fault) => end(() => reject(fault));
      const leave = () => refuse(clientLeft());
      const inUse = busy(`the models of ${this.#limits.open} other runs are open and in use`);
      const late = setTimeout(() => refuse(inUse), this.#limits.wait).unref();
      const waiter: Waiter = { directory, refuse, admit: (open) => end(() => resolve(open)) };
      const end = (then: () => void) => {
        clearTimeout(late);
        signal?.removeEventListener('abort', leave);
        this.#waiting = this.#waiting.filter((other) => other !== waiter);
        then();
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiter);
      this.#next();
    });
  }

  /** Lets those in that waited longest, as far as there is room; an idle model makes some. */
  #next(): void {
    while (this.#waiting.length > 0 && !this.#closed) {
      const { directory, admit } = this.#waiting[0]!;
      const open = this.#open.get(directory) ?? this.#started(directory);
      if (!open) return;
      open.users++;
      admit(open);
    }
  }

  #started(directory: string): Open | undefined {
    if (this.processes >= this.#limits.open) {
      // One that is ending makes room by itself.
      if (this.#closing.size === 0) this.#closeIdle();
      return undefined;
    }
    const open = { inference: new Inference(directory, this.#limits), users: 0, asked: this.#count };
    this.#open.set(directory, open);
    return open;
  }

  #closeIdle(): void {
    const idle = [...this.#open].filter(([, { users, inference }]) => users === 0 && inference.load === 0);
    const [oldest] = idle.sort(([, a], [, b]) => a.asked - b.asked);
    if (!oldest) return;
    this.#open.delete(oldest[0]);
    const closing = oldest[1].inference.close().finally(() => {
      this.#closing.delete(closing);
      this.#next();
    });
    this.#closing.add(closing);
  }
}
