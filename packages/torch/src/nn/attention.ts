import type { TensorOptions } from '../create.ts';
import type { Generator } from '../random.ts';
import type { Tensor } from '../tensor.ts';
import { Dropout, Linear } from './layers.ts';
import { Module } from './module.ts';

/**
 * softmax(D^{-1/2} Q·Kᵀ)·V (the paper's Eq. attention) on [.., T, D] queries, keys and values.
 * `mask` is added to the scores: 0 where attention is allowed, −∞ where it is not.
 */
export function attend(
  query: Tensor,
  key: Tensor,
  value: Tensor,
  given: { mask?: Tensor; weights?: (scores: Tensor) => Tensor } = {},
): Tensor {
  const scores = query.mul(1 / Math.sqrt(query.dim(-1))).matmul(key.transpose(-2, -1));
  const weights = (given.mask ? scores.add(given.mask) : scores).softmax(-1);
  return (given.weights ? given.weights(weights) : weights).matmul(value);
}

/** [B, T, D] → [B, heads, T, D/heads] */
export function splitHeads(x: Tensor, heads: number): Tensor {
  return x.reshape(x.dim(0), x.dim(1), heads, x.dim(2) / heads).transpose(1, 2);
}

/** [B, heads, T, d] → [B, T, heads·d] */
export function joinHeads(x: Tensor): Tensor {
  return x.transpose(1, 2).reshape(x.dim(0), x.dim(2), x.dim(1) * x.dim(3));
}

/** Multi-head attention with separate projections of query, key and value. */
export class MultiHeadAttention extends Module {
  readonly heads: number;
  readonly query: Linear;
  readonly key: Linear;
  readonly value: Linear;
  readonly output: Linear;
  readonly dropout: Dropout;

  constructor(
    width: number,
    heads: number,
    generator: Generator,
    given: TensorOptions & { dropout?: number } = {},
  ) {
    super();
    if (width % heads !== 0) throw new RangeError(`a width of ${width} does not divide into ${heads} heads`);
    this.heads = heads;
    this.query = new Linear(width, width, generator, given);
    this.key = new Linear(width, width, generator, given);
    this.value = new Linear(width, width, generator, given);
    this.output = new Linear(width, width, generator, given);
    this.dropout = new Dropout(given.dropout ?? 0, generator);
  }

  /** Queries [B, T, D] over a memory [B, S, D]; `mask` broadcasts to [B, heads, T, S]. */
  forward(x: Tensor, memory: Tensor = x, mask?: Tensor): Tensor {
    const mixed = attend(
      splitHeads(this.query.forward(x), this.heads),
      splitHeads(this.key.forward(memory), this.heads),
      splitHeads(this.value.forward(memory), this.heads),
      { ...(mask ? { mask } : {}), weights: (weights) => this.dropout.forward(weights) },
    );
    return this.output.forward(joinHeads(mixed));
  }
}
