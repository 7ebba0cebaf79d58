import { type Generator, nn, scope, Tensor, type TensorOptions } from '@hidden-schema/torch';

// Shapes: B sentences, T tokens, L walk steps, K symbols, D width.

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

export interface EncoderOptions extends BlockOptions {
  vocabulary: number;
  length: number;
  symbols: number;
  blocks: number;
  readout: 'position' | 'queries';
}

/**
 * h^enc of the synthetic experiments (appendix E.2): token embeddings, Transformer blocks, and a readout to L vectors
 * of scores over K symbols, either at each token's own position or by L learnable queries (appendix C.2).
 */
export class TransformerEncoder extends nn.Module {
  readonly embedding: nn.Embedding;
  readonly blocks: TransformerBlock[];
  readonly queries: Tensor | undefined; // [L, D]
  readonly readout: TransformerBlock | undefined;
  readonly head: nn.Linear;
  readonly dropout: nn.Dropout;
  readonly #positions: Tensor; // [T, D]
  readonly #scale: number;

  constructor(options: EncoderOptions, generator: Generator) {
    super();
    const { width, vocabulary, length, symbols } = options;
    this.embedding = new nn.Embedding(vocabulary, width, generator, { ...options, deviation: 0.01 });
    this.blocks = Array.from({ length: options.blocks }, () => new TransformerBlock(options, generator));
    if (options.readout === 'queries') {
      this.queries = nn.parameter(nn.normal([length, width], 1, generator, options));
      this.readout = new TransformerBlock(options, generator);
    }
    this.head = new nn.Linear(width, symbols, generator, options);
    this.dropout = new nn.Dropout(options.dropout, generator);
    this.#positions = sinusoidalPositions(length, width)
      .to(options.dtype ?? 'float32')
      .keep();
    this.#scale = Math.sqrt(width);
  }

  /** h of a batch with token numbers [B, T]. [B, L, K] */
  scores({ tokens }: { tokens: Tensor }): Tensor {
    return this.forward(tokens);
  }

  /** Token numbers [B, T] → h [B, L, K]. */
  forward(tokens: Tensor): Tensor {
    const embedded = this.embedding.forward(tokens).mul(this.#scale).add(this.#positions);
    const encoded = this.blocks.reduce((x, block) => block.forward(x), this.dropout.forward(embedded));
    if (!this.readout) return this.head.forward(encoded);
    const queries = this.queries!.unsqueeze(0).expand(tokens.dim(0), -1, -1);
    return this.head.forward(this.readout.forward(queries, encoded));
  }
}
