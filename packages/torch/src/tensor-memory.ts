import { callRaw, type Given } from './call.ts';
import { arrayOfDtype, type DType, dtypeFromCode, type TypedArray } from './dtype.ts';
import { type TorchError, UseAfterFreeError } from './errors.ts';
import { countHostRead } from './host-reads.ts';
import { guarded, type Handle, native, typed } from './native.ts';
import { observer } from './observe.ts';
import { release, type Scoped, track } from './scope.ts';

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

export function describe(args: readonly Argument[]): TorchError['tensors'] {
  return args
    .flat(1)
    .flatMap((a) => (a instanceof TensorMemory && a.alive ? [{ shape: a.shape, dtype: a.dtype }] : []));
}

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
    throw typed(error, name, () => describe(args));
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
    countHostRead(1);
    return guarded(
      'item',
      () => describe([this]),
      () => native.item(this.handle),
    );
  }

  /** The data, of an element type that typed arrays have. */
  protected readNumbers(): TypedArray {
    countHostRead(this.size);
    const buffer = guarded(
      'toArray',
      () => describe([this]),
      () => native.readData(this.handle),
    );
    return arrayOfDtype(buffer, this.dtype);
  }

  // Autograd
  get requiresGrad(): boolean {
    return native.requiresGrad(this.handle);
  }
  requireGrad(required = true): this {
    guarded(
      'requireGrad',
      () => describe([this]),
      () => native.requireGrad(this.handle, required),
    );
    return this;
  }
  setGrad(gradient: TensorMemory | undefined): void {
    guarded(
      'setGrad',
      () => describe([this]),
      () => native.setGrad(this.handle, gradient?.handle ?? null),
    );
  }
  backward(options: { gradient?: TensorMemory; retainGraph?: boolean; createGraph?: boolean } = {}): void {
    const create = options.createGraph ?? false;
    observer()?.backward(this.handle);
    guarded(
      'backward',
      () => describe([this]),
      () =>
        native.backward(this.handle, options.gradient?.handle ?? null, options.retainGraph ?? create, create),
    );
  }
}
