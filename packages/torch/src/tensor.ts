import { defaultDevice } from './device.ts';
import { type DType, dtypeCodes, dtypeOfArray, type TypedArray } from './dtype.ts';
import { ArgumentError } from './errors.ts';
import { countHostRead } from './host-reads.ts';
import { guarded, type Handle, native } from './native.ts';
import { type Argument, invoke, TensorMemory } from './tensor-memory.ts';

export type Operand = Tensor | number;

/** Calls an ATen operator that returns one tensor. */
export function call(name: string, ...args: Argument[]): Tensor {
  const result = invoke(name, args);
  if (typeof result !== 'number') throw new ArgumentError(`${name} does not return one tensor`);
  return new Tensor(result, name);
}

/** Calls an ATen operator that returns several tensors, or a list of them. */
export function callMany(name: string, ...args: Argument[]): Tensor[] {
  const result = invoke(name, args);
  if (!Array.isArray(result)) throw new ArgumentError(`${name} does not return several tensors`);
  return result.map((handle) => new Tensor(handle, name));
}

/** Calls an operator that changes its first argument in place. */
function callInPlace(name: string, ...args: Argument[]): void {
  native.free(invoke(name, args) as Handle);
}

/** An n-dimensional array inside libtorch. Immutable but for the methods that end in an underscore. */
export class Tensor extends TensorMemory {
  static fromArray(
    data: TypedArray,
    shape: readonly number[],
    dtype: DType = dtypeOfArray(data),
    device = defaultDevice(),
  ): Tensor {
    const made = guarded(
      'fromArray',
      () => [],
      () => native.fromData(data, shape, dtypeCodes[dtype]),
    );
    const tensor = new Tensor(made, 'fromArray');
    const placed = device === 'cpu' ? tensor : tensor.toDevice(device);
    if (placed !== tensor) tensor.free();
    return placed;
  }

  /** The data as a typed array; 16-bit floats come as float32. */
  toArray(): TypedArray {
    if (this.dtype !== 'float16' && this.dtype !== 'bfloat16') return this.readNumbers();
    const wide = this.to('float32');
    const data = wide.readNumbers();
    wide.free();
    return data;
  }
  /** The data as plain numbers, whatever the element type. */
  toNumbers(): number[] {
    return Array.from(this.toArray(), Number);
  }

  // Autograd
  get grad(): Tensor | undefined {
    const handle = native.gradOf(this.handle);
    return handle === null ? undefined : new Tensor(handle, 'grad');
  }
  detach(): Tensor {
    return call('detach', this);
  }

  // Arithmetic
  add(other: Operand): Tensor {
    return call(other instanceof Tensor ? 'add.Tensor' : 'add.Scalar', this, other);
  }
  sub(other: Operand): Tensor {
    return call(other instanceof Tensor ? 'sub.Tensor' : 'sub.Scalar', this, other);
  }
  mul(other: Operand): Tensor {
    return call(other instanceof Tensor ? 'mul.Tensor' : 'mul.Scalar', this, other);
  }
  div(other: Operand): Tensor {
    return call(other instanceof Tensor ? 'div.Tensor' : 'div.Scalar', this, other);
  }
  pow(exponent: number): Tensor {
    return call('pow.Tensor_Scalar', this, exponent);
  }
  maximum(other: Tensor): Tensor {
    return call('maximum', this, other);
  }
  minimum(other: Tensor): Tensor {
    return call('minimum', this, other);
  }
  clamp(min?: number, max?: number): Tensor {
    return call('clamp', this, min, max);
  }
  matmul(other: Tensor): Tensor {
    return call('matmul', this, other);
  }

  // Functions of each element
  neg(): Tensor {
    return call('neg', this);
  }
  exp(): Tensor {
    return call('exp', this);
  }
  log(): Tensor {
    return call('log', this);
  }
  log1p(): Tensor {
    return call('log1p', this);
  }
  sqrt(): Tensor {
    return call('sqrt', this);
  }
  rsqrt(): Tensor {
    return call('rsqrt', this);
  }
  reciprocal(): Tensor {
    return call('reciprocal', this);
  }
  abs(): Tensor {
    return call('abs', this);
  }
  sin(): Tensor {
    return call('sin', this);
  }
  cos(): Tensor {
    return call('cos', this);
  }
  sigmoid(): Tensor {
    return call('sigmoid', this);
  }
  logSigmoid(): Tensor {
    return call('log_sigmoid', this);
  }
  tanh(): Tensor {
    return call('tanh', this);
  }
  relu(): Tensor {
    return call('relu', this);
  }
  silu(): Tensor {
    return call('silu', this);
  }
  /** GELU by the error function, or GPT-2's tanh approximation. */
  gelu(approximate: 'none' | 'tanh' = 'none'): Tensor {
    return approximate === 'none' ? call('engine::erf_gelu', this) : call('gelu', this, approximate);
  }
  isFinite(): Tensor {
    return call('isfinite', this);
  }
  logicalNot(): Tensor {
    return call('logical_not', this);
  }

  // Comparisons
  eq(other: Operand): Tensor {
    return call(other instanceof Tensor ? 'eq.Tensor' : 'eq.Scalar', this, other);
  }
  ne(other: Operand): Tensor {
    return call(other instanceof Tensor ? 'ne.Tensor' : 'ne.Scalar', this, other);
  }
  gt(other: Operand): Tensor {
    return call(other instanceof Tensor ? 'gt.Tensor' : 'gt.Scalar', this, other);
  }
  ge(other: Operand): Tensor {
    return call(other instanceof Tensor ? 'ge.Tensor' : 'ge.Scalar', this, other);
  }
  lt(other: Operand): Tensor {
    return call(other instanceof Tensor ? 'lt.Tensor' : 'lt.Scalar', this, other);
  }
  le(other: Operand): Tensor {
    return call(other instanceof Tensor ? 'le.Tensor' : 'le.Scalar', this, other);
  }
  maskedFill(mask: Tensor, value: number): Tensor {
    return call('masked_fill.Scalar', this, mask, value);
  }

  // Reductions
  sum(dims?: number | readonly number[], keep = false): Tensor {
    if (dims === undefined) return call('sum', this);
    return call('sum.dim_IntList', this, typeof dims === 'number' ? [dims] : dims, keep);
  }
  mean(dims?: number | readonly number[], keep = false): Tensor {
    if (dims === undefined) return call('mean', this);
    return call('mean.dim', this, typeof dims === 'number' ? [dims] : dims, keep);
  }
  amax(dims: number | readonly number[] = [], keep = false): Tensor {
    return call('amax', this, typeof dims === 'number' ? [dims] : dims, keep);
  }
  argmax(dim?: number, keep = false): Tensor {
    return call('argmax', this, dim, keep);
  }
  logSumExp(dim: number, keep = false): Tensor {
    return call('logsumexp', this, [dim], keep);
  }
  softmax(dim: number): Tensor {
    return call('softmax.int', this, dim);
  }
  logSoftmax(dim: number): Tensor {
    return call('log_softmax.int', this, dim);
  }
  cumsum(dim: number): Tensor {
    return call('cumsum', this, dim);
  }
  all(): Tensor {
    return call('all', this);
  }
  norm(): Tensor {
    return call('norm.Scalar', this, 2);
  }

  // Shape and selection
  reshape(...shape: number[]): Tensor {
    return call('reshape', this, shape);
  }
  transpose(a: number, b: number): Tensor {
    return call('transpose.int', this, a, b);
  }
  permute(...dims: number[]): Tensor {
    return call('permute', this, dims);
  }
  squeeze(dim: number): Tensor {
    return call('squeeze.dim', this, dim);
  }
  unsqueeze(dim: number): Tensor {
    return call('unsqueeze', this, dim);
  }
  expand(...shape: number[]): Tensor {
    return call('expand', this, shape);
  }
  contiguous(): Tensor {
    return call('contiguous', this);
  }
  narrow(dim: number, start: number, length: number): Tensor {
    return call('narrow', this, dim, start, length);
  }
  select(dim: number, index: number): Tensor {
    return call('select.int', this, dim, index);
  }
  indexSelect(dim: number, index: Tensor): Tensor {
    return call('index_select', this, dim, index);
  }
  gather(dim: number, index: Tensor): Tensor {
    return call('gather', this, dim, index);
  }
  unbind(dim: number): Tensor[] {
    return callMany('unbind.int', this, dim);
  }
  chunk(count: number, dim: number): Tensor[] {
    return callMany('chunk', this, count, dim);
  }
  triu(diagonal = 0): Tensor {
    return call('triu', this, diagonal);
  }
  topk(count: number, dim = -1): { values: Tensor; indices: Tensor } {
    const [values, indices] = callMany('topk', this, count, dim);
    return { values: values!, indices: indices! };
  }
  oneHot(classes: number): Tensor {
    if (this.device === 'cpu') return call('one_hot', this, classes);
    // one_hot looks for the largest number first, which waits for the device.
    const numbers = call('arange', classes, dtypeCodes.int64, undefined, this.device);
    return this.unsqueeze(-1).eq(numbers).to('int64');
  }

  // Copies and conversions
  clone(): Tensor {
    return call('clone', this);
  }
  to(dtype: DType): Tensor {
    return call('to.dtype', this, dtypeCodes[dtype]);
  }
  toDevice(device: string): Tensor {
    if (device === 'cpu') countHostRead(this.size);
    return call('to.device', this, device, dtypeCodes[this.dtype]);
  }
  /** The same bytes read as another element type. */
  viewAs(dtype: DType): Tensor {
    return call('view.dtype', this, dtypeCodes[dtype]);
  }

  // In place, for parameters and running means
  copy_(source: Tensor): this {
    callInPlace('copy_', this, source);
    return this;
  }
  add_(other: Operand, alpha = 1): this {
    callInPlace(other instanceof Tensor ? 'add_.Tensor' : 'add_.Scalar', this, other, alpha);
    return this;
  }
  mul_(other: Operand): this {
    callInPlace(other instanceof Tensor ? 'mul_.Tensor' : 'mul_.Scalar', this, other);
    return this;
  }
  zero_(): this {
    callInPlace('zero_', this);
    return this;
  }
}
