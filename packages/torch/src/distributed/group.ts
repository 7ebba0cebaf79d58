import { readFileSync } from 'node:fs';
import { noGrad } from '../autograd.ts';
import { defaultDevice, engineInfo } from '../engine.ts';
import { GroupError, TorchError } from '../errors.ts';
import { guarded, guardedLater, native } from '../native.ts';
import { scope } from '../scope.ts';
import { Tensor } from '../tensor.ts';
import { agree, type GroupConfig } from './agreement.ts';
import { type Place, usualPatience } from './place.ts';

export interface GroupOptions {
  /** gloo for tensors in the machines' memory, nccl for those on graphics cards; that of the default device unless given. */
  backend?: 'gloo' | 'nccl';
  /** What all ranks must have in common; where they differ, none computes and all say where. */
  terms?: GroupConfig;
}

/** The collectives of torch that this libtorch brings. */
export const collectiveBackends = (): string[] => native.groupBackends();

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** The collectives that take tensors of the default device. */
const usualBackend = (): 'gloo' | 'nccl' => (deviceKind() === 'cuda' ? 'nccl' : 'gloo');
const deviceKind = (): string => defaultDevice().split(':')[0]!;

/** What keeps a group from opening is the user's to see to, and no fault of an operator. */
async function opened<T>(body: () => Promise<T>): Promise<T> {
  try {
    return await guardedLater('group', body);
  } catch (error) {
    if (!(error instanceof TorchError)) throw error;
    throw new GroupError(error.message.replace(/^group\(\): /, ''));
  }
}

/** Large enough to hide what starting a sum costs, small enough that most are under way before backward ends. */
const bucketBytes = 1 << 20;

/**
 * The processes that compute together, on torch's collectives (c10d). All of them call the same methods in the same
 * order. When one ends, every method throws `RankLostError` with its name, in all others, within seconds.
 */
export class Group {
  readonly rank: number;
  readonly size: number;

  private constructor({ rank, size }: Place) {
    this.rank = rank;
    this.size = size;
  }

  /**
   * Waits until all processes are there and agree, for the place's patience at most. A process is in one group at a
   * time.
   */
  static async open(
    place: Place,
    { backend = usualBackend(), terms = {} }: GroupOptions = {},
  ): Promise<Group> {
    if (!collectiveBackends().includes(backend))
      throw new GroupError(
        `libtorch was built without ${backend}, so processes cannot train together${backend === 'nccl' ? ' on graphics cards' : ''}; hsn doctor says which libtorch this is`,
      );
    const { address, port, listen = address, rank, size, patience = usualPatience } = place;
    const until = performance.now() + 1000 * patience;
    await opened(() => native.groupMeet(address, port, listen, rank, size, patience));
    try {
      const names = await agree(place, until, {
        version,
        libtorch: engineInfo().version,
        '--device': deviceKind(),
        ...terms,
      });
      await opened(() => native.groupJoin(backend, names));
    } catch (error) {
      native.groupClose();
      throw error;
    }
    return new Group(place);
  }

  /** Sums over the processes, in place. */
  sum(tensors: readonly Tensor[]): void {
    this.#run('sum', tensors, (handles) => native.groupSum(handles));
  }

  /** Means over the processes, in place. */
  average(tensors: readonly Tensor[]): void {
    this.sum(tensors);
    noGrad(() => {
      for (const tensor of tensors) tensor.mul_(1 / this.size);
    });
  }

  /** The values of one process, in place, in all of them. */
  broadcast(tensors: readonly Tensor[], root = 0): void {
    this.#run('broadcast', tensors, (handles) => native.groupBroadcast(handles, root));
  }

  /** Means over the processes as new tensors with gradients: those of the mean of all processes' losses. */
  mean(tensors: readonly Tensor[]): Tensor[] {
    const handles = this.#run('mean', tensors, (own) => native.groupMean(own));
    return handles.map((handle) => new Tensor(handle, 'mean over processes'));
  }

  /** Sums of plain numbers; other work of this process goes on meanwhile. */
  totals(values: readonly number[]): Promise<number[]> {
    return guardedLater('totals', () => native.groupTotals(values, defaultDevice()));
  }

  /** Waits until all processes are here. */
  async barrier(): Promise<void> {
    await this.totals([0]);
  }

  /** Bytes of rank 0 in all processes. */
  broadcastBytes(bytes?: Uint8Array): Uint8Array {
    return scope(() => {
      const length = Tensor.fromArray(Float64Array.of(bytes?.length ?? 0), [1]);
      this.broadcast([length]);
      const data = Tensor.fromArray(bytes ?? new Uint8Array(length.item()), [length.item()]);
      if (length.item() > 0) this.broadcast([data]);
      return data.toArray() as Uint8Array;
    });
  }

  /** From now on `backward` averages the gradients of these parameters. */
  averageGradients(parameters: readonly Tensor[]): void {
    this.#run('average gradients', parameters, (handles) => native.averageGradients(handles, bucketBytes));
  }

  /** Gradients of the mean of all processes' losses: buckets of them are summed while backward goes on. */
  backward(loss: Tensor): void {
    native.gradientsBegin();
    loss.backward();
    this.#run('gradients', [], () => native.gradientsEnd());
  }

  /** Tells the others why this process leaves. */
  fail(reason: string): void {
    native.groupFail(reason);
  }

  /** Leaves the group. */
  close(): void {
    native.groupClose();
  }

  #run<T>(what: string, tensors: readonly Tensor[], body: (handles: number[]) => T): T {
    return guarded(what, () => body(tensors.map(({ handle }) => handle)), tensors);
  }
}
