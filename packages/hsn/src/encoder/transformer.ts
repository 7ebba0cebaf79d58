import { type Generator, nn, type Tensor } from '@hidden-schema/torch';
import {
  type BlockOptions,
  TransformerBlock,
  TransformerText,
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
export class TransformerEncoder extends TransformerText {
  readonly queries: Tensor | undefined; // [L, D]
  readonly readout: TransformerBlock | undefined;
  readonly head: nn.Linear;

  constructor(options: EncoderOptions, generator: Generator) {
    const { width, length, symbols, blocks } = options;
    super({ ...options, layers: blocks, positions: length, deviation: 0.01 }, generator);
    if (options.readout === 'queries') {
      this.queries = nn.parameter(nn.normal([length, width], 1, generator, options));
      this.readout = new TransformerBlock(options, generator);
    }
    this.head = new nn.Linear(width, symbols, generator, options);
  }

  /** h of a batch with token numbers [B, T]. [B, L, K] */
  scores({ tokens }: { tokens: Tensor }): Tensor {
    const encoded = this.hidden(tokens);
    if (!this.readout) return this.head.forward(encoded);
    const queries = this.queries!.unsqueeze(0).expand(tokens.dim(0), -1, -1);
    return this.head.forward(this.readout.forward(queries, encoded));
  }
}
