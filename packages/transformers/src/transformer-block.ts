import { type Generator, nn, scope, Tensor, type TensorOptions } from '@hidden-schema/torch';

// Shapes: B sentences, T tokens, D width.

/** Sinusoidal positions of the original Transformer. [T, D] */
export function sinusoidalPositions(length: number, width: number): Tensor {
  const data = new Float64Array(length * width);
  for (let t = 0; t < length; t++) {
    for (let d = 0; d < width; d++) {
      const angle = t / 10000 ** ((d - (d % 2)) / width);
      data[t * width + d] = d % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
    }
  }
  return Tensor.fromArray(data, [length, width]);
}

export interface BlockOptions extends TensorOptions {
  width: number;
  heads: number;
  hidden: number;
  dropout: number;
}

/** One Transformer block: attention, then a feed-forward layer, each with a residual path and a norm after it. */
export class TransformerBlock extends nn.Module {
  readonly attention: nn.MultiHeadAttention;
  readonly attentionNorm: nn.LayerNorm;
  readonly expand: nn.Linear;
  readonly contract: nn.Linear;
  readonly outputNorm: nn.LayerNorm;
  readonly dropout: nn.Dropout;

  constructor(options: BlockOptions, generator: Generator) {
    super();
    const { width, heads, hidden, dropout } = options;
    this.attention = new nn.MultiHeadAttention(width, heads, generator, options);
    this.attentionNorm = new nn.LayerNorm(width, options);
    this.expand = new nn.Linear(width, hidden, generator, options);
    this.contract = new nn.Linear(hidden, width, generator, options);
    this.outputNorm = new nn.LayerNorm(width, options);
    this.dropout = new nn.Dropout(dropout, generator);
  }

  /** Queries [B, T, D] attend to `memory` [B, S, D], by default to themselves; `mask` is added to the scores. */
  forward(x: Tensor, memory: Tensor = x, mask?: Tensor): Tensor {
    // A scope of its own: what the gradient does not need is given back before the next block.
    return scope(() => {
      const read = this.attention.forward(x, memory, mask);
      const attended = this.attentionNorm.forward(this.dropout.onto(x, read));
      const inner = this.dropout.ofRelu(this.expand.forward(attended));
      return this.outputNorm.forward(this.dropout.onto(attended, this.contract.forward(inner)));
    });
  }
}
