import { type TensorOptions, zeros } from '../create.ts';
import { lstm } from '../functional.ts';
import type { Generator } from '../random.ts';
import type { Tensor } from '../tensor.ts';
import { uniform } from './layers.ts';
import { Module, parameter } from './module.ts';

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
