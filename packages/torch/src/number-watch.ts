import { callRaw, type Handle, native } from './native.ts';
import { dtypeFromCode, type Observer, observed } from './tensor-memory.ts';

/** What a tensor held when something went wrong. */
export interface NumberSummary {
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly nan: number;
  readonly infinite: number;
  /** Of the finite values; absent where there is none. */
  readonly range?: readonly [number, number];
}

/** The operator that first made a number which is not one. */
export interface NumberFault {
  /** forward: in what it gave; backward: in the gradient that it passed back. */
  readonly phase: 'forward' | 'backward';
  readonly operator: string;
  /** Which call it was, from 1. */
  readonly call: number;
  readonly inputs: readonly NumberSummary[];
  /** What it gave, or the gradient it passed back. */
  readonly output: NumberSummary;
  /** Where it was called: functions and places, the innermost first. */
  readonly stack: readonly string[];
}

export interface NumberReport<T> {
  /** What `body` gave, or threw. */
  readonly outcome: { readonly value: T } | { readonly error: unknown };
  readonly calls: number;
  /** The first NaN that came of inputs without one. */
  readonly nan: NumberFault | undefined;
  /** The first infinity that came of finite inputs, but for those that `usual` names. */
  readonly infinite: NumberFault | undefined;
  /** The first gradient that is not finite, on the way back from the loss. */
  readonly gradient: NumberFault | undefined;
  /** Calls that gave an infinity, as `number operator`; those of a healthy run are no fault. */
  readonly infinities: ReadonlySet<string>;
}

/** Runs `body` and looks at the result of every operator in it: slow, and sure to name the one that went wrong. */
export function watchNumbers<T>(
  body: () => T,
  { usual = new Set<string>() }: { usual?: ReadonlySet<string> } = {},
): NumberReport<T> {
  const watch = new Watch(usual);
  let outcome: NumberReport<T>['outcome'];
  try {
    outcome = { value: observed(watch, body) };
  } catch (error) {
    outcome = { error };
  }
  const { nan, infinite, gradient, infinities, calls } = watch;
  return { outcome, calls, infinities, nan, infinite, gradient };
}

interface Call {
  readonly operator: string;
  readonly call: number;
  readonly inputs: readonly Handle[];
  readonly stack: readonly string[];
}

class Watch implements Observer {
  calls = 0;
  nan: NumberFault | undefined;
  infinite: NumberFault | undefined;
  gradient: NumberFault | undefined;
  readonly infinities = new Set<string>();
  readonly #usual: ReadonlySet<string>;
  readonly #made: { handle: Handle; call: Call }[] = [];

  constructor(usual: ReadonlySet<string>) {
    this.#usual = usual;
  }

  called(operator: string, inputs: readonly { readonly handle: Handle }[], result: unknown): void {
    const handles = inputs.map(({ handle }) => handle);
    const call = { operator, call: ++this.calls, inputs: handles, stack: callers() };
    // What looks at numbers must not be looked at itself.
    observed(undefined, () => {
      for (const handle of handlesOf(result)) this.#look(call, handle);
    });
  }

  #look(call: Call, handle: Handle): void {
    if (!isFloating(handle)) return;
    if (native.requiresGrad(handle)) this.#made.push({ handle, call });
    if (allFinite(handle)) return;
    const output = summaryOf(handle);
    const inputs = call.inputs.filter(isFloating).map(summaryOf);
    const fault: NumberFault = { phase: 'forward', ...call, inputs, output };
    if (output.nan > 0 && inputs.every(({ nan }) => nan === 0)) this.nan ??= fault;
    if (output.infinite === 0) return;
    const key = `${call.call} ${call.operator}`;
    this.infinities.add(key);
    const first = inputs.every(({ nan, infinite }) => nan + infinite === 0);
    if (first && !this.#usual.has(key)) this.infinite ??= fault;
  }

  /** Asks for the gradient of everything that was made, and finds where on the way back it ceased to be finite. */
  backward(root: Handle): void {
    observed(undefined, () => {
      const alive = this.#made.filter(({ handle }) => isAlive(handle) && native.requiresGrad(handle));
      const handles = alive.map(({ handle }) => handle);
      const gradients = native.grad([root], handles, null, true, false);
      const at = gradients.findLastIndex((gradient) => gradient !== null && !allFinite(gradient));
      if (at !== -1) this.gradient ??= this.#passedBack(alive[at]!.handle, gradients[at]!);
      for (const gradient of gradients) if (gradient !== null) native.free(gradient);
    });
  }

  /** The fault of the operator that used a tensor last: its gradient came from there. */
  #passedBack(handle: Handle, gradient: Handle): NumberFault {
    const made = this.#made.find((entry) => entry.handle === handle)!.call;
    const user = this.#made.findLast(({ call }) => call.inputs.includes(handle))?.call ?? made;
    const inputs = user.inputs.filter((input) => isAlive(input) && isFloating(input)).map(summaryOf);
    return { phase: 'backward', ...user, inputs, output: summaryOf(gradient) };
  }
}

function handlesOf(result: unknown): Handle[] {
  const values: unknown[] = Array.isArray(result) ? result : [result];
  return values.filter((value): value is Handle => typeof value === 'number' && isAlive(value));
}

/** An operator may also give a plain number, which names no tensor; and one that was freed is gone. */
function isAlive(handle: Handle): boolean {
  try {
    native.dtype(handle);
    return true;
  } catch {
    return false;
  }
}

const isFloating = (handle: Handle): boolean => dtypeFromCode(native.dtype(handle)).includes('float');

/** One number out of a tensor, by operators applied in turn. */
function numberOf(handle: Handle, ...operators: (readonly [string, ...unknown[]])[]): number {
  let at = handle;
  try {
    for (const [operator, ...rest] of operators) {
      const next = callRaw(operator, [at, ...rest]) as Handle;
      if (at !== handle) native.free(at);
      at = next;
    }
    return native.item(at);
  } finally {
    if (at !== handle) native.free(at);
  }
}

const allFinite = (handle: Handle): boolean => numberOf(handle, ['isfinite'], ['all']) !== 0;

function summaryOf(handle: Handle): NumberSummary {
  const shape = native.shape(handle);
  const size = shape.reduce((product, n) => product * n, 1);
  const nan = numberOf(handle, ['isnan'], ['sum']);
  const infinite = numberOf(handle, ['isinf'], ['sum']);
  const finite = size - nan - infinite;
  const bounds = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY] as const;
  const range = bounds.map((outside, i) =>
    numberOf(handle, ['nan_to_num', outside, outside, outside], [i === 0 ? 'min' : 'max']),
  ) as [number, number];
  const dtype = dtypeFromCode(native.dtype(handle));
  return { shape, dtype, nan, infinite, ...(finite > 0 ? { range } : {}) };
}

/** The functions that called, without those of this library. */
function callers(): string[] {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 30;
  const { stack = '' } = new Error();
  Error.stackTraceLimit = limit;
  const lines = stack.split('\n').slice(1);
  return lines
    .map((line) => line.trim().replace(/^at /, ''))
    .filter((line) => !/packages\/torch\/src|node:internal/.test(line));
}
