import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { ArgumentError, TorchError } from './errors.ts';
import { chooseBlasCore } from './processor.ts';

/** A number that names a tensor or generator inside the addon. */
export type Handle = number;

/** The addon's surface. Operator arguments and results are checked by the addon against libtorch's schemas. */
export interface Native {
  resolve(name: string, overload: string): number;
  call(operator: number, ...args: unknown[]): unknown;
  free(tensor: Handle): void;
  fromData(data: ArrayBufferView, shape: readonly number[], dtype: number): Handle;
  readData(tensor: Handle): ArrayBuffer;
  item(tensor: Handle): number;
  shape(tensor: Handle): number[];
  dtype(tensor: Handle): number;
  device(tensor: Handle): string;
  backward(tensor: Handle, gradient: Handle | null, retainGraph: boolean, createGraph: boolean): void;
  grad(
    outputs: readonly Handle[],
    inputs: readonly Handle[],
    gradients: readonly (Handle | null)[] | null,
    retainGraph: boolean,
    createGraph: boolean,
  ): (Handle | null)[];
  gradOf(tensor: Handle): Handle | null;
  setGrad(tensor: Handle, gradient: Handle | null): void;
  requireGrad(tensor: Handle, required: boolean): void;
  requiresGrad(tensor: Handle): boolean;
  gradMode(enabled: boolean): boolean;
  generator(device: string, seed: bigint): Handle;
  freeGenerator(generator: Handle): void;
  generatorState(generator: Handle): Handle;
  restoreGenerator(generator: Handle, state: Handle): void;
  dropoutMask(shape: readonly number[], p: number, generator: Handle): Handle;
  adamStep(
    weights: readonly Handle[],
    first: readonly Handle[],
    second: readonly Handle[],
    rate: number,
    beta1: number,
    beta2: number,
    epsilon: number,
    decay: number,
    count: number,
    decoupled: boolean,
  ): void;
  threads(count?: number): number;
  counters(): { tensors: number; bytes: number };
  info(): { version: string; threads: number; cudaDevices: number; parallel: string; config: string };
}

const addonPath = fileURLToPath(new URL('../build/torch.node', import.meta.url));

function load(): Native {
  // Threads that spin while they wait for the next product starve whatever shares the cores with them.
  process.env.OMP_WAIT_POLICY ??= 'passive';
  chooseBlasCore(process.env);
  const require = createRequire(import.meta.url);
  try {
    return require(addonPath) as Native;
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    throw new Error(
      `the libtorch addon could not be loaded (${reason}): run "npm install" in the project to build it`,
    );
  }
}

/** Threads from HSN_THREADS or OMP_NUM_THREADS, else every core this process may use. */
function defaultThreads(): number {
  const asked = Number(process.env.HSN_THREADS ?? process.env.OMP_NUM_THREADS);
  return Number.isInteger(asked) && asked > 0 ? asked : availableParallelism();
}

export const native: Native = load();
native.threads(defaultThreads());

/** Runs a call into the addon and turns its coded errors into the classes of this library. */
export function guarded<T>(operator: string, describe: () => TorchError['tensors'], body: () => T): T {
  try {
    return body();
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    if (code === 'HSN_KIND') throw new ArgumentError((error as Error).message);
    if (code === 'HSN_TORCH') throw new TorchError(operator, describe(), (error as Error).message);
    throw error;
  }
}
