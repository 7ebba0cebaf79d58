import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { reasonOf } from '@hidden-schema/base';
import { checkPrebuilt, engineFiles } from './engine-files.ts';
import { ArgumentError, EngineError, RankLostError, TorchError } from './errors.ts';
import { chooseBlasCore } from './processor.ts';

/** A number that names a tensor or generator inside the addon. */
export type Handle = number;

/** One operator as libtorch ran it; times are nanoseconds of Node's `process.hrtime`. */
export interface NativeEvent {
  readonly name: string;
  /** Shapes of its tensors. */
  readonly shapes: string;
  readonly start: number;
  readonly nanoseconds: number;
  readonly thread: number;
  /** A node of the gradient's record, not an operator. */
  readonly backward: boolean;
  /** Bytes allocated while it ran, freed or not. */
  readonly allocated: number;
  /** Bytes of tensors alive at its end, counted from the profile's start. */
  readonly live: number;
}

/** The addon's surface. Operator arguments and results are checked by the addon against libtorch's schemas. */
export interface Native {
  /** Loads a library whose operators are called space::name. */
  loadOperators(file: string, space: string): void;
  resolve(name: string, overload: string): number;
  call(operator: number, ...args: unknown[]): unknown;
  free(tensor: Handle): void;
  fromData(data: ArrayBufferView, shape: readonly number[], dtype: number): Handle;
  readData(tensor: Handle): ArrayBuffer;
  /** Fills a tensor from a place in an open file; returns how many bytes came, fewer where the file ends. */
  readFile(descriptor: number, position: number, tensor: Handle): number;
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
  autocast(enabled: boolean, device: string): void;
  generator(seed: bigint): Handle;
  freeGenerator(generator: Handle): void;
  generatorState(generator: Handle): Handle;
  restoreGenerator(generator: Handle, state: Handle): void;
  dropoutMask(
    shape: readonly number[],
    p: number,
    generator: Handle,
    offset?: number,
    /** libtorch's operators make the mask there; the kernel on the CPU where it is not given. */
    device?: string,
  ): Handle;
  /** Returns how many of the weights had a gradient. */
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
    /** Whether the kernel may update weights on the CPU, in place of libtorch's operators. */
    kernel: boolean,
  ): number;
  threads(count?: number): number;
  groupBackends(): string[];
  groupMeet(
    host: string,
    port: number,
    listen: string,
    rank: number,
    size: number,
    seconds: number,
  ): Promise<void>;
  /** Null where another text has that name. */
  groupLeave(name: string, text: string): Promise<string | null>;
  groupFind(name: string): Promise<string | null>;
  groupJoin(backend: string, names: readonly string[]): Promise<null>;
  groupClose(): void;
  groupFail(reason: string): void;
  groupSum(tensors: readonly Handle[]): void;
  groupBroadcast(tensors: readonly Handle[], root: number): void;
  groupMean(tensors: readonly Handle[]): Handle[];
  groupTotals(values: readonly number[], device: string): Promise<number[]>;
  averageGradients(parameters: readonly Handle[], bucketBytes: number): void;
  gradientsBegin(): void;
  gradientsEnd(): void;
  /** Lets operators that have no form for the meta device run there, and refuses calls with tensors of two devices. */
  completeMeta(): boolean;
  counters(): { tensors: number; bytes: number };
  profileStart(): void;
  profileStop(): NativeEvent[];
  /** `cudaDevices` is 0 too where libtorch has CUDA and finds no driver. */
  info(): { version: string; threads: number; cudaDevices: number; parallel: string; config: string };
}

function load(): Native {
  // Threads that spin while they wait for the next product starve whatever shares the cores with them.
  process.env.OMP_WAIT_POLICY ??= 'passive';
  chooseBlasCore(process.env);
  const { addon, prebuilt } = engineFiles();
  if (prebuilt) checkPrebuilt(prebuilt);
  const require = createRequire(import.meta.url);
  return loaded(addon, () => require(addon) as Native);
}

/** What loading a built file gives, or what to do where it does not load. */
function loaded<T>(file: string, body: () => T): T {
  try {
    return body();
  } catch (error) {
    const { prebuilt, passedOver } = engineFiles();
    if (prebuilt)
      throw new EngineError(
        `the prebuilt engine ${prebuilt.manifest.name} does not load (${reasonOf(error)}); compile one for this system: HSN_LIBTORCH=pip npx hsn setup`,
      );
    if (!existsSync(file))
      throw new EngineError(
        `the engine is not set up: ${passedOver ?? 'no prebuilt one is installed, and none was compiled'}; run "npx hsn setup"`,
      );
    throw new EngineError(
      `the engine does not load (${reasonOf(error)}); run "npx hsn setup" to build it anew`,
    );
  }
}

/** An addon that was built with the engine and needs no libtorch, which is not loaded for it. */
export function loadPlain(name: string): unknown {
  const { addon, prebuilt } = engineFiles();
  const file = join(dirname(addon), `${name}.node`);
  if (prebuilt) checkPrebuilt(prebuilt, [`${name}.node`]);
  const require = createRequire(import.meta.url);
  return loaded(file, () => require(file));
}

/**
 * Makes the operators of a package callable as `name::operator`: those built with the engine from the sources that its
 * package.json names (`"libtorch": { "operators": folder }`).
 */
export function loadOperators(name: string): void {
  if (engine === undefined) awaited.push(name);
  else loadBuilt(engine, name);
}

function loadBuilt(addon: Native, name: string): void {
  const file = join(dirname(engineFiles().addon), `${name}.so`);
  loaded(file, () => addon.loadOperators(file, name));
}

/** Threads from HSN_THREADS or OMP_NUM_THREADS, else every core this process may use. */
function defaultThreads(): number {
  const asked = Number(process.env.HSN_THREADS ?? process.env.OMP_NUM_THREADS);
  return Number.isInteger(asked) && asked > 0 ? asked : availableParallelism();
}

let engine: Native | undefined;
/** Operators that were asked for before the engine was. */
const awaited: string[] = [];

function started(): Native {
  if (engine !== undefined) return engine;
  const addon = load();
  addon.threads(defaultThreads());
  for (const name of awaited) loadBuilt(addon, name);
  engine = addon;
  native = addon;
  return addon;
}

/** Loads the engine before its first use, so that what is missing is told before long work begins. */
export function startEngine(): void {
  started();
}

/**
 * The addon. Loading libtorch takes half a second, which only those pay who compute: the first use of any function loads
 * it, and from then on this is the addon itself.
 */
export let native: Native = new Proxy({} as Native, { get: (_, name) => Reflect.get(started(), name) });

/** Runs a call into the addon and turns its coded errors into the classes of this library; they describe these tensors. */
export function guarded<T>(operator: string, body: () => T, tensors: TorchError['tensors'] = []): T {
  try {
    return body();
  } catch (error) {
    throw typed(error, operator, tensors);
  }
}

/** The same for a call that answers later. */
export async function guardedLater<T>(operator: string, body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    throw typed(error, operator);
  }
}

/** An error of the addon as the class of this library that its code names. */
export function typed(error: unknown, operator: string, tensors: TorchError['tensors'] = []): unknown {
  const { code, message } = error as { code?: unknown; message: string };
  if (code === 'HSN_KIND') return new ArgumentError(message);
  if (code === 'HSN_LOST') return new RankLostError(message);
  if (code === 'HSN_TORCH') return new TorchError(operator, tensors, message);
  return error;
}

const numbers = new Map<string, number>();

/** The addon's number of an operator named as in ATen's schemas: `add.Tensor`, `mm`. */
function operatorNumber(name: string): number {
  const known = numbers.get(name);
  if (known !== undefined) return known;
  const dot = name.indexOf('.');
  const found = native.resolve(dot < 0 ? name : name.slice(0, dot), dot < 0 ? '' : name.slice(dot + 1));
  numbers.set(name, found);
  return found;
}

/** What an operator gives: a tensor's handle, several, or a plain value. */
export type Given = Handle | Handle[] | boolean | number | null;

/** One boxed call: tensors and generators as handles, everything else as plain values. */
export function callRaw(name: string, args: readonly unknown[]): Given {
  const number = operatorNumber(name);
  // Most operators take one to three arguments: spreading them would cost as much as the crossing itself.
  switch (args.length) {
    case 1:
      return native.call(number, args[0]) as Given;
    case 2:
      return native.call(number, args[0], args[1]) as Given;
    case 3:
      return native.call(number, args[0], args[1], args[2]) as Given;
    default:
      return native.call(number, ...args) as Given;
  }
}
