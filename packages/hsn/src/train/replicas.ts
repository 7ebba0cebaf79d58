import { UserError } from '@hidden-schema/base';
import { type nn, noGrad, type Share, scope, Tensor, zeros } from '@hidden-schema/torch';
import type { Group } from '@hidden-schema/torch/distributed/group';
import type * as optim from '@hidden-schema/torch/optim';
import type { PreparationState, Task } from './task.ts';
import type { TrainerState } from './trainer.ts';

/** What rank 0 asks of all processes: to take over its state, to prepare, to train a step, to end. */
const COMMANDS = ['align', 'prepare', 'step', 'end'] as const;
export type Command = (typeof COMMANDS)[number];

/** Tensors by name, as a checkpoint has them. */
export type NamedTensors = ReadonlyMap<string, Tensor>;

/** The processes that train one model together, each on its part of every batch. One alone needs no group. */
export class Replicas {
  static readonly alone: Replicas = new Replicas();
  readonly #group: Group | undefined;
  readonly #stopped = new AbortController();

  constructor(group?: Group) {
    this.#group = group;
  }

  get rank(): number {
    return this.#group?.rank ?? 0;
  }
  get size(): number {
    return this.#group?.size ?? 1;
  }
  /** Rank 0 evaluates, writes and decides. */
  get leads(): boolean {
    return this.rank === 0;
  }
  /** Aborted when another process was asked to stop. */
  get stopped(): AbortSignal {
    return this.#stopped.signal;
  }
  /** This process's part of what is drawn for a batch. */
  get share(): Share | undefined {
    return this.size === 1 ? undefined : { index: this.rank, count: this.size };
  }

  /** This process's part of `count` sentences, which are cut into equal parts. */
  part(count: number): { first: number; end: number } {
    if (count % this.size !== 0)
      throw new UserError(
        `${count} sentences a batch cannot be shared by ${this.size} processes: expected training.batch to be a multiple of ${this.size}`,
      );
    const each = count / this.size;
    return { first: this.rank * each, end: (this.rank + 1) * each };
  }

  /** This process's part of `count` things that need not be equal parts. */
  stretch(count: number): { first: number; end: number } {
    const start = (rank: number) => Math.floor((rank * count) / this.size);
    return { first: start(this.rank), end: start(this.rank + 1) };
  }

  /** Means over the processes, with gradients. */
  mean(values: readonly Tensor[]): readonly Tensor[] {
    return this.#group ? this.#group.mean(values) : values;
  }

  /** Means over the processes of what was measured. */
  means<T extends Record<string, number>>(figures: T): T {
    const names = Object.keys(figures);
    if (!this.#group) return figures;
    return scope(() => {
      const own = Tensor.fromArray(Float64Array.from(Object.values(figures)), [names.length]);
      this.#group!.average([own]);
      return Object.fromEntries(own.toNumbers().map((value, i) => [names[i]!, value])) as T;
    });
  }

  /** The sum over the processes. */
  total(value: number): number {
    return this.means({ value }).value * this.size;
  }

  /** The sum over the processes of each number, such as a count: in float64. */
  counts(own: Float64Array): Float64Array {
    if (!this.#group) return own;
    return scope(() => {
      const sum = Tensor.fromArray(own, [own.length]);
      this.sum([sum]);
      return sum.toArray() as Float64Array;
    });
  }

  /** Sums over the processes, in place. */
  sum(values: readonly Tensor[]): void {
    this.#group?.sum(values);
  }

  /** The tensors of one process, in place, in all of them. */
  broadcast(tensors: readonly Tensor[], root = 0): void {
    this.#group?.broadcast(tensors, root);
  }

  /** Waits for the others; where one of the processes is asked to stop, all of them throw here. */
  async syncOrAbort(signal?: AbortSignal): Promise<void> {
    if (this.#group) {
      const [stops] = await this.#group.totals([signal?.aborted ? 1 : 0]);
      if (stops === 0) return;
      this.#stopped.abort();
    }
    signal?.throwIfAborted();
    this.#stopped.signal.throwIfAborted();
  }

  /** From now on `backward` averages these parameters' gradients. */
  averageGradients(optimizer: optim.Adam): void {
    this.#group?.averageGradients(
      optimizer.groups.flatMap((group) => group.parameters.map(([, tensor]) => tensor)),
    );
  }

  backward(loss: Tensor): void {
    if (this.#group) this.#group.backward(loss);
    else loss.backward();
  }

  /** Rank 0: tells the others what comes next. */
  async lead(command: Command): Promise<void> {
    if (this.#group) await this.#agree(COMMANDS.indexOf(command), false);
  }

  /** Other ranks: what comes next. `stop` asks rank 0 to end after it. */
  async next(stop: boolean): Promise<Command> {
    return COMMANDS[await this.#agree(0, stop)]!;
  }

  async #agree(command: number, stop: boolean): Promise<number> {
    const [agreed, stops] = await this.#group!.totals([command, stop ? 1 : 0]);
    if (stops! > 0) this.#stopped.abort();
    return agreed!;
  }

  /** Plain data of rank 0 in all processes. */
  tell<T>(value?: T): T {
    if (!this.#group) return value!;
    const bytes = value === undefined ? undefined : Buffer.from(JSON.stringify(value));
    return JSON.parse(Buffer.from(this.#group.broadcastBytes(bytes)).toString()) as T;
  }

  /** Rank 0: hands its tensors to the others. */
  send(tensors: readonly (readonly [string, Tensor])[]): void {
    this.tell(tensors.map(([name, { shape, dtype }]) => ({ name, shape, dtype })));
    noGrad(() => this.#group?.broadcast(tensors.map(([, tensor]) => tensor)));
  }

  /** Other ranks: the tensors that rank 0 hands over. */
  receive(): NamedTensors {
    const list = this.tell<{ name: string; shape: number[]; dtype: Tensor['dtype'] }[]>();
    const tensors = new Map(list.map(({ name, shape, dtype }) => [name, zeros(shape, { dtype })]));
    noGrad(() => this.#group?.broadcast([...tensors.values()]));
    return tensors;
  }

  async barrier(): Promise<void> {
    await this.#group?.barrier();
  }
}

/** What a model's tensors are called, with them. */
export const namedTensors = (of: nn.Module | optim.Adam): (readonly [string, Tensor])[] => [
  ...of.namedTensors(),
];

/** Where rank 0 stands, beside its tensors. */
interface RankState {
  trainer: TrainerState;
  preparation: PreparationState | null;
}

/** Rank 0: brings the others to where it stands, after a restored checkpoint or a preparation. */
export async function align({ trainer, preparation }: Task<unknown>, replicas: Replicas): Promise<void> {
  if (replicas.size === 1) return;
  await replicas.lead('align');
  const standing: RankState = { trainer: trainer.state(), preparation: preparation?.state ?? null };
  replicas.tell(standing);
  replicas.send(namedTensors(trainer.model));
  replicas.send(namedTensors(trainer.optimizer));
}

function takeOver({ trainer, preparation }: Task<unknown>, replicas: Replicas): void {
  const standing = replicas.tell<RankState>();
  scope(() => trainer.restore(standing.trainer, replicas.receive(), replicas.receive()));
  if (preparation && standing.preparation) preparation.state = standing.preparation;
}

/** All ranks but 0: does what rank 0 says until it says that training ends. Nothing is written. */
export async function follow(task: Task<unknown>, replicas: Replicas, signal: AbortSignal): Promise<void> {
  try {
    for (;;) {
      const command = await replicas.next(signal.aborted);
      if (command === 'end') return;
      if (command === 'align') takeOver(task, replicas);
      else if (command === 'prepare') await prepareAlong(task, replicas, signal);
      else task.trainer.trainStep();
    }
  } finally {
    task.trainer.free();
  }
}

/** One part of the preparation; where all agreed to stop, rank 0 says what comes next. */
async function prepareAlong(
  { preparation }: Task<unknown>,
  replicas: Replicas,
  signal: AbortSignal,
): Promise<void> {
  try {
    await preparation!.advance({ signal, onPart: () => {} });
  } catch (error) {
    if (!replicas.stopped.aborted) throw error;
  }
}
