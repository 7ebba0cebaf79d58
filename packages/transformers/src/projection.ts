import {
  fewLinear,
  type Generator,
  linear,
  nn,
  noGrad,
  type Tensor,
  type TensorOptions,
  zeros,
} from '@hidden-schema/torch';

/** Which way round a weight lies: GPT-2 keeps [in, out], everyone else [out, in]. */
export type Layout = 'in-out' | 'out-in';

export interface ProjectionOptions extends TensorOptions {
  layout: Layout;
  bias: boolean;
  /** Standard deviation of the initial weights; 0 where a checkpoint replaces them. */
  deviation: number;
}

export interface AdapterOptions {
  /** Rank r of the addition. */
  rank: number;
  /** The addition counts alpha / rank times. */
  alpha: number;
  /** Dropout on the input of the adapter alone. */
  dropout?: number;
}

/** One factor of a low-rank addition; a module so that its checkpoint name ends in `.weight`. */
class Factor extends nn.Module {
  readonly weight: Tensor;

  constructor(weight: Tensor) {
    super();
    this.weight = nn.parameter(weight);
  }
}

/** A linear map that can carry a low-rank addition; the names of its parts are those that PEFT writes. */
export class Projection extends nn.Module {
  readonly weight: Tensor;
  readonly bias: Tensor | undefined;
  readonly inputs: number;
  readonly outputs: number;
  lora_A: Factor | undefined; // weight [r, in]
  lora_B: Factor | undefined; // weight [out, r]
  lora_dropout: nn.Dropout | undefined;
  readonly #layout: Layout;
  #scale = 0;

  constructor(inputs: number, outputs: number, generator: Generator, options: ProjectionOptions) {
    super();
    const shape = options.layout === 'in-out' ? [inputs, outputs] : [outputs, inputs];
    this.inputs = inputs;
    this.outputs = outputs;
    this.weight = nn.parameter(initial(shape, options.deviation, generator, options));
    this.bias = options.bias ? nn.parameter(zeros([outputs], options)) : undefined;
    this.#layout = options.layout;
  }

  /** x·W + b, and where there is an adapter (alpha / r)·x·Aᵀ·Bᵀ with it. */
  forward(x: Tensor): Tensor {
    const weight = this.#layout === 'in-out' ? this.weight.transpose(0, 1) : this.weight;
    const plain = fewLinear(x, weight, this.bias);
    if (!this.lora_A || !this.lora_B || !this.lora_dropout) return plain;
    const narrow = linear(this.lora_dropout.forward(x), this.lora_A.weight);
    return plain.add(linear(narrow, this.lora_B.weight).mul(this.#scale));
  }

  /** Adds an adapter that changes nothing yet: A is drawn, B is zero. */
  attach(options: AdapterOptions, generator: Generator): void {
    const { rank, alpha } = options;
    const like = { dtype: this.weight.dtype, device: this.weight.device };
    const bound = 1 / Math.sqrt(this.inputs);
    this.lora_A = new Factor(nn.uniform([rank, this.inputs], bound, generator, like));
    this.lora_B = new Factor(zeros([this.outputs, rank], like));
    this.lora_dropout = new nn.Dropout(options.dropout ?? 0, generator).train(this.training);
    this.#scale = alpha / rank;
  }

  /** The weight with the adapter's addition in it, in the layout of the weight. */
  merged(): Tensor {
    const { lora_A: a, lora_B: b } = this;
    if (!a || !b) return this.weight;
    return noGrad(() => {
      const addition = b.weight.matmul(a.weight).mul(this.#scale); // [out, in]
      return this.weight.add(this.#layout === 'in-out' ? addition.transpose(0, 1) : addition);
    });
  }

  /** Removes the adapter. */
  detachAdapter(): void {
    this.lora_A?.free();
    this.lora_B?.free();
    this.lora_A = undefined;
    this.lora_B = undefined;
    this.lora_dropout = undefined;
  }
}

/** A linear map for each step of a walk. */
export class StepProjections extends nn.Module {
  readonly weight: Tensor; // [L, in, out]
  readonly bias: Tensor | undefined; // [out]

  constructor(
    steps: number,
    { inputs, outputs }: { inputs: number; outputs: number },
    generator: Generator,
    options: Omit<ProjectionOptions, 'layout'>,
  ) {
    super();
    this.weight = nn.parameter(initial([steps, inputs, outputs], options.deviation, generator, options));
    this.bias = options.bias ? nn.parameter(zeros([outputs], options)) : undefined;
  }

  /** x_i·W_i + b of the first steps. [B, l, in] → [B, l, out] */
  forward(x: Tensor): Tensor {
    const weight = this.weight.narrow(0, 0, x.dim(1));
    const plain = x.transpose(0, 1).matmul(weight).transpose(0, 1);
    return this.bias ? plain.add(this.bias) : plain;
  }
}

/** Normal with the given deviation, or zeros without a draw. */
function initial(
  shape: readonly number[],
  deviation: number,
  generator: Generator,
  options: TensorOptions,
): Tensor {
  return deviation === 0 ? zeros(shape, options) : nn.normal(shape, deviation, generator, options);
}
