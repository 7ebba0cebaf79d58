import { UserError } from '@hidden-schema/base';
import { idsTensor, type PaddedIds } from '@hidden-schema/text/text-batches';
import {
  cat,
  type Generator,
  nn,
  noGrad,
  type Tensor,
  type TensorOptions,
  withoutGrad,
} from '@hidden-schema/torch';
import {
  maskOfLengths,
  paddingMask,
  type TextEncoder,
  TransformerBlock,
} from '@hidden-schema/transformers/text-encoder';

// Shapes: B sentences, T tokens, L walk steps, K symbols, D width.

export interface WalkQueriesOptions extends TensorOptions {
  /** D, the width of what the encoder gives. */
  width: number;
  length: number;
  symbols: number;
  heads?: number;
  /** Width of the block's feed-forward layer; 4·D unless given. */
  hidden?: number;
  dropout?: number;
  /** Times the usual size at which the heads start: above 1, walks differ between sentences before any training. */
  sharpness?: number;
}

/**
 * The block after the encoder (Section 3.2, appendix C.2): L learnable vectors q_{1:L} as queries, the encoder's T
 * outputs as keys and values, then a head for ρ = softmax(h_1) and one for the node weights f = exp(h_{2:L}).
 */
export class WalkQueries extends nn.Module {
  readonly queries: Tensor; // q [L, D]
  readonly block: TransformerBlock;
  readonly start: nn.Linear;
  readonly weights: nn.Linear | undefined;

  constructor(options: WalkQueriesOptions, generator: Generator) {
    super();
    const { width, length, symbols } = options;
    for (const [name, value] of Object.entries({ length, symbols }))
      if (!Number.isInteger(value) || value < 1)
        throw new UserError(`${name} must be a whole number of at least 1, got ${value}`);

    const heads = options.heads ?? defaultHeads(width);
    if (width % heads !== 0)
      throw new UserError(`an encoder of width ${width} does not divide into ${heads} heads`);
    const hidden = options.hidden ?? 4 * width;
    // Small, so that what is read outweighs the query in the residual sum: walks tell sentences apart from the start.
    this.queries = nn.parameter(nn.normal([length, width], 0.02, generator, options));
    this.block = new TransformerBlock(
      { ...options, heads, hidden, dropout: options.dropout ?? 0.1 },
      generator,
    );
    this.start = new nn.Linear(width, symbols, generator, options);
    // A walk of one step has no transition.
    this.weights = length > 1 ? new nn.Linear(width, symbols, generator, options) : undefined;
    const sharpness = options.sharpness ?? 1;
    noGrad(() => {
      for (const head of [this.start, this.weights]) head?.weight.mul_(sharpness);
    });
  }

  /** Hidden states [B, T, D] and mask [B, T] → h^enc [B, L, K]. */
  scores(hidden: Tensor, mask: Tensor): Tensor {
    const length = this.queries.dim(0);
    const queries = this.queries.unsqueeze(0).expand(hidden.dim(0), -1, -1);
    const read = this.block.forward(queries, hidden, paddingMask(mask)); // [B, L, D]
    const first = this.start.forward(read.narrow(1, 0, 1));
    if (!this.weights) return first;
    return cat([first, this.weights.forward(read.narrow(1, 1, length - 1))], 1);
  }
}

/** The most of BERT's usual numbers of heads that divides the width into heads of at least 16. */
const defaultHeads = (width: number): number =>
  [12, 8, 6, 4, 2].find((heads) => width % heads === 0 && width / heads >= 16) ?? 1;

/** Sentences to read. */
export interface ReadingBatch {
  encoder: PaddedIds;
  states?: Tensor | undefined;
}

/**
 * A text encoder, frozen or trained along, that queries of walks read. A frozen one is no part of the parameters nor of a
 * checkpoint, since it is the same wherever it is loaded from, and never drops out.
 */
export abstract class TextReader extends nn.Module {
  /** The encoder where it is trained along. */
  readonly text: TextEncoder | undefined;
  readonly #frozen: TextEncoder | undefined;

  constructor(encoder: TextEncoder, frozen: boolean) {
    super();
    if (!frozen) this.text = encoder;
    else {
      for (const [, tensor] of encoder.namedTensors()) tensor.requireGrad(false);
      this.#frozen = encoder;
      encoder.train(false);
    }
  }

  get base(): TextEncoder {
    return (this.text ?? this.#frozen)!;
  }

  get frozen(): boolean {
    return this.#frozen !== undefined;
  }

  /** The encoder's own outputs for padded token numbers; without a gradient where it is frozen. [B, T, D] */
  states(ids: PaddedIds): Tensor {
    const mask = maskOfLengths(ids.lengths, ids.width);
    const frozen = this.#frozen;
    if (!frozen) return this.text!.hidden(idsTensor(ids), mask);
    return withoutGrad(() => frozen.hidden(idsTensor(ids), mask));
  }

  override free(): void {
    super.free();
    this.#frozen?.free();
  }
}

/** h^enc of a language model: the walk's queries over a text encoder. */
export class WalkEncoder extends TextReader {
  /** Reads the text encoder's states, which a batch may bring along. */
  readonly reads = 'states';
  readonly walk: WalkQueries;

  constructor(
    encoder: TextEncoder,
    options: Omit<WalkQueriesOptions, 'width'> & { frozen: boolean },
    generator: Generator,
  ) {
    super(encoder, options.frozen);
    this.walk = new WalkQueries({ ...options, width: encoder.width }, generator);
  }

  /** h^enc of a batch; `states` are the encoder's outputs [B, T, D] where they are known already. [B, L, K] */
  scores({ encoder, states }: ReadingBatch): Tensor {
    return this.walk.scores(states ?? this.states(encoder), maskOfLengths(encoder.lengths, encoder.width));
  }
}

/** Mean of the hidden states over the tokens of each sentence, [CLS] and [SEP] included. [B, T, D] → [B, D] */
export function meanPooled(hidden: Tensor, mask: Tensor): Tensor {
  const weights = mask.to('float32').unsqueeze(2);
  return hidden.mul(weights).sum(1).div(weights.sum(1));
}

/** The same at unit length. [B, D] */
export function unitMeans(hidden: Tensor, mask: Tensor): Tensor {
  const mean = meanPooled(hidden, mask);
  return mean.div(mean.mul(mean).sum(1, true).sqrt().clamp(1e-12));
}
