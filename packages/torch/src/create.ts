import { defaultDevice } from './engine.ts';
import type { Generator } from './random.ts';
import { call, Tensor } from './tensor.ts';
import { type DType, dtypeCodes, dtypeOfArray, type TypedArray } from './tensor-memory.ts';

/** What kind of numbers a tensor has, and where they are: on the default device unless given. */
export interface TensorOptions {
  dtype?: DType;
  device?: string;
}

/** ATen's tail of dtype, layout, device for a factory. */
function optionList(options: TensorOptions): [number, undefined, string] {
  return [dtypeCodes[options.dtype ?? 'float32'], undefined, options.device ?? defaultDevice()];
}

type Nested = number | boolean | readonly Nested[];

/** A tensor from nested arrays of numbers, or from a typed array and a shape. */
export function tensor(
  data: Nested | TypedArray,
  options: TensorOptions & { shape?: readonly number[] } = {},
): Tensor {
  if (ArrayBuffer.isView(data)) {
    const plain = Tensor.fromArray(data, options.shape ?? [data.length], undefined, 'cpu');
    return settle(plain, options, dtypeOfArray(data));
  }
  const shape: number[] = [];
  for (let level: Nested | undefined = data; Array.isArray(level); level = level[0]) shape.push(level.length);
  if (!fits(data, shape, 0)) throw new TypeError('nested arrays of one shape are expected, these are ragged');
  const flat = (Array.isArray(data) ? data.flat(Number.POSITIVE_INFINITY) : [data]).map(Number);
  const plain = Tensor.fromArray(Float64Array.from(flat), options.shape ?? shape, undefined, 'cpu');
  return settle(plain, { ...options, dtype: options.dtype ?? 'float32' }, 'float64');
}

/** Whether nested arrays have the lengths of `shape` from `depth` on, all of them. */
function fits(level: Nested, shape: readonly number[], depth: number): boolean {
  if (depth === shape.length) return !Array.isArray(level);
  return (
    Array.isArray(level) &&
    level.length === shape[depth] &&
    level.every((element) => fits(element, shape, depth + 1))
  );
}

function settle(plain: Tensor, options: TensorOptions, dtype: DType): Tensor {
  let out = plain;
  if (options.dtype !== undefined && options.dtype !== dtype) {
    out = plain.to(options.dtype);
    plain.free();
  }
  return movedTo(options.device ?? defaultDevice(), out);
}

/** A tensor of the CPU on a device, freed here where it moved. */
function movedTo(device: string, made: Tensor): Tensor {
  if (device === 'cpu') return made;
  const moved = made.toDevice(device);
  made.free();
  return moved;
}

/** Whole numbers such as indices: a list, or of a shape. */
export const int64 = (values: Iterable<number> & { length: number }, shape = [values.length]): Tensor =>
  Tensor.fromArray(BigInt64Array.from(values, BigInt), shape);
/** All zeros. */
export function zeros(shape: readonly number[], options: TensorOptions = {}): Tensor {
  return call('zeros', shape, ...optionList(options));
}
/** All ones. */
export function ones(shape: readonly number[], options: TensorOptions = {}): Tensor {
  return call('ones', shape, ...optionList(options));
}
/** Every number is `value`. */
export function full(shape: readonly number[], value: number, options: TensorOptions = {}): Tensor {
  return call('full', shape, value, ...optionList(options));
}
/** 0 to `end` − 1. */
export function arange(end: number, options: TensorOptions = {}): Tensor {
  return call('arange', end, ...optionList({ dtype: 'int64', ...options }));
}
/** The unit matrix. [n, n] */
export const eye = (n: number, options: TensorOptions = {}): Tensor => call('eye', n, ...optionList(options));
/** Uniform draws in [0, 1); of a generator with a share, its rows of those for the whole batch. */
export function rand(shape: readonly number[], generator: Generator, options: TensorOptions = {}): Tensor {
  return sharedDraw('rand.generator', shape, generator, options);
}
/** Normal, of mean 0 and deviation 1; of a generator with a share, its rows of those for the whole batch. */
export function randn(shape: readonly number[], generator: Generator, options: TensorOptions = {}): Tensor {
  return sharedDraw('randn.generator', shape, generator, options);
}
/** What is drawn is drawn on the CPU, then moved: a seed gives the same numbers on every device. */
function drawnOn(options: TensorOptions, draw: (onCpu: TensorOptions) => Tensor): Tensor {
  return movedTo(options.device ?? defaultDevice(), draw({ ...options, device: 'cpu' }));
}
function sharedDraw(
  name: 'rand.generator' | 'randn.generator',
  shape: readonly number[],
  generator: Generator,
  options: TensorOptions,
): Tensor {
  const { index, count } = generator.share ?? { index: 0, count: 1 };
  const [rows = 1, ...rest] = shape;
  const whole = count === 1 ? shape : [rows * count, ...rest];
  const drawn = drawnOn(options, (onCpu) => call(name, whole, generator, ...optionList(onCpu)));
  return count === 1 ? drawn : drawn.narrow(0, index * rows, rows);
}
/** Whole numbers from 0 to `high` − 1, all as likely. */
export function randint(high: number, shape: readonly number[], generator: Generator): Tensor {
  return drawnOn({ dtype: 'int64' }, (onCpu) =>
    call('randint.generator', high, shape, generator, ...optionList(onCpu)),
  );
}
/** 0 to `n` − 1 in some order. */
export function randperm(n: number, generator: Generator): Tensor {
  return drawnOn({ dtype: 'int64' }, (onCpu) =>
    call('randperm.generator', n, generator, ...optionList(onCpu)),
  );
}
/** One 0/1 draw for each probability. */
export function bernoulli(probabilities: Tensor, generator: Generator): Tensor {
  const { device, shape, dtype } = probabilities;
  if (device === 'cpu') return call('bernoulli', probabilities, generator);
  return rand(shape, generator, { dtype, device }).lt(probabilities).to(dtype);
}
/** `count` draws of an index from each row of weights, which come to the CPU for it. */
export function multinomial(
  weights: Tensor,
  count: number,
  generator: Generator,
  replacement = true,
): Tensor {
  const { device } = weights;
  const own = device === 'cpu' ? weights : weights.toDevice('cpu');
  return movedTo(device, call('multinomial', own, count, replacement, generator));
}
