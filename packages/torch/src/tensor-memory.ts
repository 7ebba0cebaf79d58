import { UseAfterFreeError } from './errors.ts';
import { callRaw, type Given, guarded, type Handle, native, typed } from './native.ts';
import { release, type Scoped, track } from './scope.ts';

/** Element types: libtorch's number (c10::ScalarType), bytes, safetensors' name, and the array of their numbers. */
const kinds = {
  float64: [7, 8, 'F64', Float64Array],
  float32: [6, 4, 'F32', Float32Array],
  float16: [5, 2, 'F16', Uint8Array],
  bfloat16: [15, 2, 'BF16', Uint8Array],
  int64: [4, 8, 'I64', BigInt64Array],
  int32: [3, 4, 'I32', Int32Array],
  int16: [2, 2, 'I16', Int16Array],
  int8: [1, 1, 'I8', Int8Array],
  uint8: [0, 1, 'U8', Uint8Array],
  bool: [11, 1, 'BOOL', Uint8Array],
} as const;

/** The kinds of numbers. */
export type DType = keyof typeof kinds;

const all = Object.keys(kinds) as DType[];
const byDtype = <T>(of: (dtype: DType) => T) =>
  Object.fromEntries(all.map((dtype) => [dtype, of(dtype)])) as Record<DType, T>;

export const dtypeCodes = byDtype((dtype): number => kinds[dtype][0]);
export const dtypeBytes = byDtype((dtype): number => kinds[dtype][1]);
/** Names in safetensors files. */
export const dtypeNames = byDtype((dtype): string => kinds[dtype][2]);

const ofCode = new Map(all.map((dtype) => [dtypeCodes[dtype], dtype]));

export function dtypeFromCode(code: number): DType {
  const dtype = ofCode.get(code);
  if (dtype === undefined)
    throw new TypeError(`libtorch returned element type number ${code}, which has no name here`);
  return dtype;
}

export type TypedArray =
  | Float32Array
  | Float64Array
  | Int8Array
  | Int16Array
  | Int32Array
  | BigInt64Array
  | Uint8Array;

/** The element type that a typed array's data has in a tensor. */
export const dtypeOfArray = (data: TypedArray): DType =>
  all.find((dtype) => dtype !== 'float16' && dtype !== 'bfloat16' && data instanceof kinds[dtype][3])!;

/** A tensor's bytes as the typed array of its element type; of booleans as 0 and 1. */
export const arrayOfDtype = (bytes: ArrayBuffer, dtype: DType): TypedArray => new kinds[dtype][3](bytes);

/** What an operator takes. */
export type Argument =
  | TensorMemory
  | { readonly handle: Handle }
  | number
  | boolean
  | string
  | null
  | undefined
  | readonly Argument[];

/** The garbage collector's backstop for tensors that live outside every scope. */
const finalizer = new FinalizationRegistry<Handle>((handle) => {
  try {
    native.free(handle);
  } catch {
    // Freed by hand before: its handle is stale, which is what we want.
  }
});

const tensorsOf = (args: readonly Argument[]): TensorMemory[] =>
  args.flat(1).filter((argument): argument is TensorMemory => argument instanceof TensorMemory);

function lower(argument: Argument): unknown {
  if (argument instanceof TensorMemory) return argument.handle;
  if (Array.isArray(argument)) {
    for (const element of argument) if (typeof element === 'object') return argument.map(lower);
    return argument;
  }
  if (typeof argument === 'object' && argument !== null) return (argument as { handle: Handle }).handle;
  return argument;
}

/** Calls an ATen operator by name; gives the handle, or handles, of what it returns. */
export function invoke(name: string, args: readonly Argument[]): Given {
  const lowered = new Array<unknown>(args.length);
  for (let i = 0; i < args.length; i++) lowered[i] = lower(args[i]);
  let result: Given;
  try {
    result = callRaw(name, lowered);
  } catch (error) {
    throw typed(
      error,
      name,
      tensorsOf(args).filter(({ alive }) => alive),
    );
  }
  const watching = observer();
  if (watching) watching.called(name, tensorsOf(args), result);
  return result;
}

/** Memory inside libtorch by its handle: shape, element type, lifetime and gradient; `Tensor` adds the operators. */
export class TensorMemory implements Scoped {
  #handle: Handle;
  #shape: readonly number[] | undefined;
  readonly operator: string;

  constructor(handle: Handle, operator: string) {
    this.#handle = handle;
    this.operator = operator;
    track(this);
  }

  get handle(): Handle {
    if (this.#handle === 0) throw new UseAfterFreeError(this.operator);
    return this.#handle;
  }
  get alive(): boolean {
    return this.#handle !== 0;
  }
  get shape(): readonly number[] {
    this.#shape ??= native.shape(this.handle);
    return this.#shape;
  }
  get dtype(): DType {
    return dtypeFromCode(native.dtype(this.handle));
  }
  get device(): string {
    return native.device(this.handle);
  }
  get size(): number {
    return this.shape.reduce((product, n) => product * n, 1);
  }
  /** The length of one dimension; negative counts from the end. */
  dim(index: number): number {
    const length = this.shape.at(index);
    if (length === undefined)
      throw new RangeError(`dimension ${index} of a tensor of shape [${this.shape.join(', ')}]`);
    return length;
  }

  free(): void {
    if (this.#handle === 0) return;
    native.free(this.#handle);
    this.#handle = 0;
  }
  /** Lets this tensor outlive the scope that is open. */
  keep(): this {
    release(this);
    return this;
  }
  escape(): void {
    finalizer.register(this, this.#handle);
  }

  item(): number {
    return guarded('item', () => native.item(this.handle), [this]);
  }

  /** The data, of an element type that typed arrays have. */
  protected readNumbers(): TypedArray {
    return arrayOfDtype(
      guarded('toArray', () => native.readData(this.handle), [this]),
      this.dtype,
    );
  }

  // Autograd
  get requiresGrad(): boolean {
    return native.requiresGrad(this.handle);
  }
  requireGrad(required = true): this {
    guarded('requireGrad', () => native.requireGrad(this.handle, required), [this]);
    return this;
  }
  setGrad(gradient: TensorMemory | undefined): void {
    guarded('setGrad', () => native.setGrad(this.handle, gradient?.handle ?? null), [this]);
  }
  backward(options: { gradient?: TensorMemory; retainGraph?: boolean; createGraph?: boolean } = {}): void {
    const { gradient, createGraph: create = false, retainGraph: retain = create } = options;
    observer()?.backward(this.handle);
    guarded('backward', () => native.backward(this.handle, gradient?.handle ?? null, retain, create), [this]);
  }
}

/** Whoever looks at operators while they run. */
export interface Observer {
  /** After each call: its tensor arguments, and what it gave. */
  called(operator: string, inputs: readonly { readonly handle: Handle }[], result: unknown): void;
  /** Before gradients flow back from a tensor. */
  backward(root: Handle): void;
}

let current: Observer | undefined;

export const observer = (): Observer | undefined => current;

/** Runs `body` with an observer, or without any. */
export function observed<T>(watching: Observer | undefined, body: () => T): T {
  const outer = current;
  current = watching;
  try {
    return body();
  } finally {
    current = outer;
  }
}
