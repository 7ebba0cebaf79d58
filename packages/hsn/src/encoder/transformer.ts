import { type Generator, nn, type Tensor } from '@hidden-schema/torch';
import {
  type BlockOptions,
  sinusoidalPositions,
  TransformerBlock,
} from '@hidden-schema/transformers/text-encoder';

// Shapes: B sentences, T tokens, L walk steps, K symbols, D width.

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
