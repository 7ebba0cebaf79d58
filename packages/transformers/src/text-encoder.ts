import { UserError } from '@hidden-schema/base';
import type { Tokenizer } from '@hidden-schema/text/tokenizer/tokenizer';
import {
  arange,
  cat,
  type EncoderPrecision,
  type Generator,
  nn,
  scope,
  Tensor,
  type TensorOptions,
} from '@hidden-schema/torch';

// Shapes: B sentences, T tokens, D width.

/** The tensor that has a row for each token. */
export interface TokenTable {
  readonly name: string;
  /** Tokens are read in so many ways: token i in way i modulo their number. One unless given. */
  readonly kinds?: number;
}

/** What turns tokens into vectors: BERT, or one of the encoders from scratch below. */
export interface TextEncoder extends nn.Module {
  readonly width: number;
  readonly vocabulary: number;
  /** Tokens that it can read. */
  readonly positions: number;
  /** Token numbers [B, T] and their mask [B, T], 1 for a token and 0 for padding → [B, T, D]. */
  hidden(ids: Tensor, mask: Tensor): Tensor;
  /**
   * Texts as token numbers → unit vectors, without a gradient, where the encoder has a faster way to them than the mean
   * of `hidden`; nothing where it has none. [B, D]
   */
  vectors?(texts: readonly Int32Array[]): Tensor | undefined;
  /** The numbers that `vectors` multiplies in, where it can be told which. */
  precision?: EncoderPrecision;
  /** Where the weights of a single token are, in an encoder that was trained elsewhere: a text's vector is kept by them. */
  readonly tokenTable?: TokenTable;
  /** Makes a folder with it and its tokenizer, where it was fitted to one corpus and lies in the run. */
  writeTo?(folder: string, tokenizer: Tokenizer): void;
}

/** 0 for a token, so low for padding that no attention is left on it; added to scores. [B, T] → [B, 1, 1, T] */
export function paddingMask(mask: Tensor): Tensor {
  return mask.to('float32').sub(1).mul(1e9).unsqueeze(1).unsqueeze(1);
}

/** 1 where a token stands, 0 where padding does. [B, T] float32 */
export function maskOfLengths(lengths: ArrayLike<number>, width: number): Tensor {
  const data = new Float32Array(lengths.length * width);
  for (let b = 0; b < lengths.length; b++) data.fill(1, b * width, b * width + lengths[b]!);
  return Tensor.fromArray(data, [lengths.length, width]);
}

/** Refuses sentences that the encoder has no positions for, before an index runs out inside libtorch. */
export function checkLength(ids: Tensor | number, positions: number): void {
  const length = typeof ids === 'number' ? ids : ids.dim(1);
  if (length > positions)
    throw new UserError(
      `a sentence of ${length} tokens came to an encoder of ${positions} positions; cut sentences at ${positions} tokens`,
    );
}

export interface ScratchOptions extends TensorOptions {
  vocabulary: number;
  width: number;
  layers: number;
  positions: number;
  dropout: number;
}

/** What encoders from scratch begin with: embeddings of tokens. */
abstract class ScratchText extends nn.Module {
  readonly width: number;
  readonly vocabulary: number;
  readonly positions: number;
  readonly embedding: nn.Embedding;
  readonly dropout: nn.Dropout;

  constructor(options: ScratchOptions & { deviation: number }, generator: Generator) {
    super();
    const { width, vocabulary, positions } = options;
    this.width = width;
    this.vocabulary = vocabulary;
    this.positions = positions;
    this.embedding = new nn.Embedding(vocabulary, width, generator, options);
    this.dropout = new nn.Dropout(options.dropout, generator);
  }
}

/** A Transformer encoder from scratch: embeddings, sinusoidal positions, blocks of self-attention. */
export class TransformerText extends ScratchText implements TextEncoder {
  readonly blocks: TransformerBlock[];
  readonly #positions: Tensor; // [T, D]

  constructor(
    options: ScratchOptions & Pick<BlockOptions, 'heads' | 'hidden'> & { deviation?: number },
    generator: Generator,
  ) {
    super({ deviation: 0.02, ...options }, generator);
    this.blocks = Array.from({ length: options.layers }, () => new TransformerBlock(options, generator));
    const table = sinusoidalPositions(options.positions, options.width);
    this.#positions = table.to(options.dtype ?? 'float32').keep();
    table.free();
  }

  /** Without a mask nothing is padding. */
  hidden(ids: Tensor, mask?: Tensor): Tensor {
    checkLength(ids, this.positions);
    const scaled = this.embedding.forward(ids).mul(Math.sqrt(this.width));
    const embedded = scaled.add(this.#positions.narrow(0, 0, ids.dim(1)));
    const padding = mask && paddingMask(mask);
    return this.blocks.reduce((x, block) => block.forward(x, x, padding), this.dropout.forward(embedded));
  }
}

/** One LSTM layer in both directions; each reads a sentence's own tokens only, whatever pads it. */
class BothWays extends nn.Module {
  readonly forwards: nn.Lstm;
  readonly backwards: nn.Lstm;

  constructor(inputs: number, hidden: number, generator: Generator, options: TensorOptions) {
    super();
    this.forwards = new nn.Lstm(inputs, hidden, generator, options);
    this.backwards = new nn.Lstm(inputs, hidden, generator, options);
  }

  /** x [B, T, D] and the reversal of each sentence [B, T] → [B, T, 2·hidden]. */
  read(x: Tensor, reversed: Tensor): Tensor {
    const there = this.forwards.forward(x).output;
    const back = turned(this.backwards.forward(turned(x, reversed)).output, reversed);
    return cat([there, back], 2);
  }
}

/** A bidirectional LSTM from scratch. */
export class LstmText extends ScratchText implements TextEncoder {
  readonly layers: BothWays[];

  constructor(options: ScratchOptions, generator: Generator) {
    const { width } = options;
    if (width % 2 !== 0)
      throw new UserError(`an LSTM that reads both ways needs an even width, got ${width}`);
    super({ deviation: 1, ...options }, generator);
    this.layers = Array.from(
      { length: options.layers },
      () => new BothWays(width, width / 2, generator, options),
    );
  }

  hidden(ids: Tensor, mask: Tensor): Tensor {
    checkLength(ids, this.positions);
    const reversed = reversal(mask);
    return this.layers.reduce(
      (x, layer) => this.dropout.forward(layer.read(x, reversed)),
      this.dropout.forward(this.embedding.forward(ids)),
    );
  }
}

/** Where each place of a reversed sentence comes from; padding stays where it is. [B, T] int64 */
function reversal(mask: Tensor): Tensor {
  const lengths = mask.to('int64').sum(1, true); // [B, 1]
  const places = arange(mask.dim(1)).unsqueeze(0); // [1, T]
  const mirrored = lengths.sub(1).sub(places); // negative in the padding
  const inside = mirrored.ge(0).to('int64');
  return mirrored.mul(inside).add(places.mul(inside.neg().add(1)));
}

/** The steps of x in another order. */
const turned = (x: Tensor, order: Tensor): Tensor => x.gather(1, order.unsqueeze(2).expand(-1, -1, x.dim(2)));

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
