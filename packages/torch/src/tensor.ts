import { defaultDevice } from './engine.ts';
import { ArgumentError } from './errors.ts';
import { guarded, type Handle, native } from './native.ts';
import {
  type Argument,
  type DType,
  dtypeCodes,
  dtypeOfArray,
  invoke,
  TensorMemory,
  type TypedArray,
} from './tensor-memory.ts';

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

// Methods that pass on what they get to the operator of their name, by what that is.
const elementwise =
  'neg exp log log1p sqrt rsqrt reciprocal abs sin cos sigmoid log_sigmoid tanh relu silu logical_not all clone detach contiguous';
const withTensor = 'maximum minimum matmul';
/** Their operators have two forms: for a tensor, and for a number. */
const withOperand = 'add sub mul div eq ne gt ge lt le';
/** Typed below; ATen's form of the operator stands behind the point. */
const further =
  'pow.Tensor_Scalar clamp masked_fill.Scalar argmax softmax.int log_softmax.int cumsum transpose.int squeeze.dim unsqueeze narrow select.int index_select gather triu';
/** They take a list, which is written without brackets here. */
const withList = 'reshape permute expand';
/** They give several tensors. */
const intoSeveral = 'unbind.int chunk';

type Words<S extends string> = S extends `${infer First} ${infer Rest}` ? First | Words<Rest> : S;
type Method<S extends string> = S extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<Rest>}` : S;

interface Further {
  pow(exponent: number): Tensor;
  clamp(min?: number, max?: number): Tensor;
  maskedFill(mask: Tensor, value: number): Tensor;
  argmax(dim?: number, keep?: boolean): Tensor;
  softmax(dim: number): Tensor;
  logSoftmax(dim: number): Tensor;
  cumsum(dim: number): Tensor;
  transpose(a: number, b: number): Tensor;
  squeeze(dim: number): Tensor;
  unsqueeze(dim: number): Tensor;
  narrow(dim: number, start: number, length: number): Tensor;
  select(dim: number, index: number): Tensor;
  indexSelect(dim: number, index: Tensor): Tensor;
  gather(dim: number, index: Tensor): Tensor;
  triu(diagonal?: number): Tensor;
  unbind(dim: number): Tensor[];
  chunk(count: number, dim: number): Tensor[];
}

type Operators = TensorMemory &
  Further &
  Record<Method<Words<typeof elementwise>>, () => Tensor> &
  Record<Words<typeof withTensor>, (other: Tensor) => Tensor> &
  Record<Words<typeof withOperand>, (other: Operand) => Tensor> &
  Record<Words<typeof withList>, (...sizes: number[]) => Tensor>;

class OperatorMethods extends TensorMemory {
  static {
    const add = (operator: string, value: (this: Tensor, ...given: Argument[]) => Tensor | Tensor[]) => {
      const method = operator
        .replace(/\..*/, '')
        .replace(/_(.)/, (_, letter: string) => letter.toUpperCase());
      Object.defineProperty(OperatorMethods.prototype, method, { value, writable: true, configurable: true });
    };
    for (const name of `${elementwise} ${withTensor} ${further}`.split(' '))
      add(name, function (...given) {
        return call(name, this, ...given);
      });
    for (const name of withList.split(' '))
      add(name, function (...given) {
        return call(name, this, given);
      });
    for (const name of intoSeveral.split(' '))
      add(name, function (...given) {
        return callMany(name, this, ...given);
      });
    for (const name of withOperand.split(' ')) {
      const [tensor, scalar] = [`${name}.Tensor`, `${name}.Scalar`];
      add(name, function (other) {
        return call(other instanceof Tensor ? tensor : scalar, this, other);
      });
    }
  }
}

/** An n-dimensional array inside libtorch. Immutable but for the methods that end in an underscore. */
export class Tensor extends (OperatorMethods as new (
  ...made: ConstructorParameters<typeof TensorMemory>
) => Operators) {
  static fromArray(
    data: TypedArray,
    shape: readonly number[],
    dtype: DType = dtypeOfArray(data),
    device = defaultDevice(),
  ): Tensor {
    const made = guarded('fromArray', () => native.fromData(data, shape, dtypeCodes[dtype]));
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

  // Functions of each element
  /** GELU by the error function, or GPT-2's tanh approximation. */
  gelu(approximate: 'none' | 'tanh' = 'none'): Tensor {
    return approximate === 'none' ? call('engine::erf_gelu', this) : call('gelu', this, approximate);
  }
  isFinite(): Tensor {
    return call('isfinite', this);
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
  logSumExp(dim: number, keep = false): Tensor {
    return call('logsumexp', this, [dim], keep);
  }
  norm(): Tensor {
    return call('norm.Scalar', this, 2);
  }

  // Shape and selection
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
  to(dtype: DType): Tensor {
    return call('to.dtype', this, dtypeCodes[dtype]);
  }
  toDevice(device: string): Tensor {
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
