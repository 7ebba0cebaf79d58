import { eye, type Generator, nn, type Tensor, type TensorOptions } from '@hidden-schema/torch';

/** The K symbols e_1 … e_K as rows: indicator vectors, given bags of tokens, or learnable vectors of dimension S. */
export class Symbols extends nn.Module {
  readonly vectors: Tensor; // [K, S]

  private constructor(vectors: Tensor, learnable: boolean) {
    super();
    this.vectors = learnable ? nn.parameter(vectors) : vectors.keep();
  }

  static oneHot(count: number, given: TensorOptions = {}): Symbols {
    return new Symbols(eye(count, given), false);
  }
  static given(vectors: Tensor): Symbols {
    return new Symbols(vectors.clone(), false);
  }
  static learnable(
    count: number,
    dimension: number,
    generator: Generator,
    given: TensorOptions = {},
  ): Symbols {
    return new Symbols(nn.normal([count, dimension], 1 / Math.sqrt(dimension), generator, given), true);
  }

  get dimension(): number {
    return this.vectors.dim(1);
  }
}
