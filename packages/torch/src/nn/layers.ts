import { noGrad } from '../autograd.ts';
import { ones, rand, randn, type TensorOptions, zeros } from '../create.ts';
import { dropout, embedding, layerNorm, linear } from '../functional.ts';
import { addDropout, fusable, reluDropout } from '../fused.ts';
import type { Generator } from '../random.ts';
import type { Tensor } from '../tensor.ts';
import { Module, parameter } from './module.ts';

let drawing = true;

/** Makes a module whose weights are all filled in afterwards: none is drawn, which takes longer than to read them. */
export function undrawn<T>(make: () => T): T {
  drawing = false;
  try {
    return make();
  } finally {
    drawing = true;
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
