import { noGrad } from '../autograd.ts';
import { ones, rand, randn, type TensorOptions, zeros } from '../create.ts';
import {
  addDropout,
  dropout,
  embedding,
  fusable,
  layerNorm,
  linear,
  lstm,
  reluDropout,
} from '../functional.ts';
import type { Generator } from '../random.ts';
import type { Tensor } from '../tensor.ts';

/** A tensor that a module learns; it lives until its module is freed. */
export const parameter = (value: Tensor): Tensor => value.detach().keep().requireGrad();

/**
 * Parameters by name. The path of a parameter through its modules (`blocks.0.attention.query.weight`)
 * is its name in a checkpoint.
 */
export abstract class Module {
  /** Whether dropout is active. */
  training = true;

  /** Direct members: parameters, modules, and arrays of modules. */
  private *members(): IterableIterator<[string, Tensor | Module]> {
    for (const [name, value] of Object.entries(this)) {
      if (value instanceof Module || isTensor(value)) yield [name, value];
      else if (Array.isArray(value)) {
        for (const [index, element] of value.entries())
          if (element instanceof Module || isTensor(element)) yield [`${name}.${index}`, element];
      }
    }
  }

  /** Every tensor with its path: parameters, and buffers that do not need a gradient. */
  *namedTensors(prefix = ''): IterableIterator<[string, Tensor]> {
    for (const [name, member] of this.members()) {
      if (member instanceof Module) yield* member.namedTensors(`${prefix}${name}.`);
      else yield [prefix + name, member];
    }
  }

  /** What an optimiser trains. */
  *namedParameters(): IterableIterator<[string, Tensor]> {
    for (const [name, tensor] of this.namedTensors()) if (tensor.requiresGrad) yield [name, tensor];
  }

  parameters(): Tensor[] {
    return [...this.namedParameters()].map(([, tensor]) => tensor);
  }

  train(training = true): this {
    this.training = training;
    for (const [, member] of this.members()) if (member instanceof Module) member.train(training);
    return this;
  }

  /** Copies values in by path; every tensor must be there with its shape, and nothing else. */
  load(source: ReadonlyMap<string, Tensor>): void {
    this.checkFit(new Map([...source].map(([name, tensor]) => [name, tensor.shape])));
    noGrad(() => {
      for (const [name, tensor] of this.namedTensors()) tensor.copy_(source.get(name)!);
    });
  }

  /** Throws unless these are the paths and shapes of all tensors. */
  checkFit(shapes: ReadonlyMap<string, readonly number[]>): void {
    const faults: string[] = [];
    const own = new Map(this.namedTensors());
    for (const [name, tensor] of own) {
      const saved = shapes.get(name);
      if (!saved) faults.push(`${name} is missing`);
      else if (saved.join() !== tensor.shape.join())
        faults.push(`${name} has shape [${saved.join(', ')}], expected [${tensor.shape.join(', ')}]`);
    }
    for (const name of shapes.keys()) if (!own.has(name)) faults.push(`${name} is not part of this model`);
    if (faults.length > 0) throw new Error(`these weights do not fit: ${summary(faults)}`);
  }

  free(): void {
    for (const [, tensor] of this.namedTensors()) tensor.free();
  }
}

function isTensor(value: unknown): value is Tensor {
  return typeof value === 'object' && value !== null && 'requireGrad' in value;
}

function summary(faults: readonly string[]): string {
  const shown = faults.slice(0, 8).join('; ');
  return faults.length > 8 ? `${shown}; and ${faults.length - 8} more` : shown;
}

let drawing = true;

/** Makes a module whose weights are all filled in afterwards: none is drawn, which takes longer than to read them. */
export function undrawn<T>(make: () => T): T {
  const before = drawing;
  drawing = false;
  try {
    return make();
  } finally {
    drawing = before;
  }
}

/** Uniform in ±bound, as PyTorch starts its linear and recurrent layers. */
export function uniform(
  shape: readonly number[],
  bound: number,
  generator: Generator,
  options: TensorOptions = {},
): Tensor {
  if (!drawing) return zeros(shape, options);
  return noGrad(() =>
    rand(shape, generator, options)
      .mul(2 * bound)
      .sub(bound),
  );
}

export function normal(
  shape: readonly number[],
  deviation: number,
  generator: Generator,
  options: TensorOptions = {},
): Tensor {
  if (!drawing) return zeros(shape, options);
  return noGrad(() => randn(shape, generator, options).mul(deviation));
}

export class Linear extends Module {
  readonly weight: Tensor;
  readonly bias: Tensor | undefined;

  constructor(
    inputs: number,
    outputs: number,
    generator: Generator,
    options: TensorOptions & { bias?: boolean } = {},
  ) {
    super();
    const bound = 1 / Math.sqrt(inputs);
    this.weight = parameter(uniform([outputs, inputs], bound, generator, options));
    this.bias = options.bias === false ? undefined : parameter(uniform([outputs], bound, generator, options));
  }

  forward(x: Tensor): Tensor {
    return linear(x, this.weight, this.bias);
  }
}

export class Embedding extends Module {
  readonly weight: Tensor;

  constructor(
    count: number,
    width: number,
    generator: Generator,
    options: TensorOptions & { deviation?: number } = {},
  ) {
    super();
    this.weight = parameter(normal([count, width], options.deviation ?? 1, generator, options));
  }

  forward(indices: Tensor): Tensor {
    return embedding(this.weight, indices);
  }
}

export class LayerNorm extends Module {
  readonly weight: Tensor;
  readonly bias: Tensor;
  readonly epsilon: number;

  constructor(width: number, options: TensorOptions & { epsilon?: number } = {}) {
    super();
    this.weight = parameter(ones([width], options));
    this.bias = parameter(zeros([width], options));
    this.epsilon = options.epsilon ?? 1e-5;
  }

  forward(x: Tensor): Tensor {
    return layerNorm(x, this.weight, this.bias, this.epsilon);
  }
}

/** Dropout that draws from the generator it is given, and only in training. */
export class Dropout extends Module {
  readonly p: number;
  readonly #generator: Generator;

  constructor(p: number, generator: Generator) {
    super();
    if (!(p >= 0 && p < 1)) throw new RangeError(`a dropout probability lies in [0, 1), got ${p}`);
    this.p = p;
    this.#generator = generator;
  }

  /** What is dropped now, and by which draws; nothing outside of training. */
  get active(): { p: number; generator: Generator } | undefined {
    return this.training && this.p > 0 ? { p: this.p, generator: this.#generator } : undefined;
  }

  forward(x: Tensor): Tensor {
    return this.training ? dropout(x, this.p, this.#generator) : x;
  }

  /** base + dropout(x) */
  onto(base: Tensor, x: Tensor): Tensor {
    const fits = this.active && fusable(base) && fusable(x) && base.shape.join() === x.shape.join();
    return fits ? addDropout(base, x, this.p, this.#generator) : base.add(this.forward(x));
  }

  /** dropout(relu(x)) */
  ofRelu(x: Tensor): Tensor {
    return this.active && fusable(x) ? reluDropout(x, this.p, this.#generator) : this.forward(x.relu());
  }
}

export interface LstmState {
  hidden: Tensor;
  cell: Tensor;
}

/** Long short-term memory over [B, T, input], one or both directions. Weights in libtorch's order and gate layout. */
export class Lstm extends Module {
  readonly layers: number;
  readonly bidirectional: boolean;
  readonly hidden: number;
  readonly weights: Tensor[] = [];

  constructor(
    inputs: number,
    hidden: number,
    generator: Generator,
    options: TensorOptions & { layers?: number; bidirectional?: boolean } = {},
  ) {
    super();
    this.hidden = hidden;
    this.layers = options.layers ?? 1;
    this.bidirectional = options.bidirectional ?? false;
    const bound = 1 / Math.sqrt(hidden);
    const directions = this.bidirectional ? 2 : 1;
    for (let layer = 0; layer < this.layers; layer++) {
      for (let direction = 0; direction < directions; direction++) {
        const width = layer === 0 ? inputs : hidden * directions;
        for (const shape of [[4 * hidden, width], [4 * hidden, hidden], [4 * hidden], [4 * hidden]])
          this.weights.push(parameter(uniform(shape, bound, generator, options)));
      }
    }
  }

  forward(x: Tensor, state?: LstmState): LstmState & { output: Tensor } {
    const shape = [this.layers * (this.bidirectional ? 2 : 1), x.dim(0), this.hidden];
    const start = () => zeros(shape, { dtype: x.dtype, device: x.device });
    return lstm(x, [state?.hidden ?? start(), state?.cell ?? start()], this.weights, this);
  }
}
