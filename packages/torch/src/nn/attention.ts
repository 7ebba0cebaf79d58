import type { TensorOptions } from '../create.ts';
import { attentionFits, cat, fusedAttention, fusedSelfAttention, linear } from '../functional.ts';
import type { Generator } from '../random.ts';
import type { Tensor } from '../tensor.ts';
import { Dropout, Linear, Module } from './layers.ts';

/** What goes into attention besides queries, keys and values; `attend` says what. */
interface AttendOptions {
  mask?: Tensor | undefined;
  dropout?: Dropout | undefined;
  seen?: ((weights: Tensor) => void) | undefined;
}

/**
 * softmax(D^{-1/2} Q·Kᵀ)·V (the paper's Eq. attention) on [.., T, D] queries, keys and values.
 * `mask` is added to the scores: 0 where attention is allowed, −∞ where it is not. `seen` gets the weights, which
 * otherwise never leave the kernel.
 */
export function attend(query: Tensor, key: Tensor, value: Tensor, options: AttendOptions = {}): Tensor {
  const { mask, dropout, seen } = options;
  if (!seen && attentionFits(query.dim(-1), query, key, value, mask))
    return fusedAttention(query, key, value, { mask, dropout: dropout?.active });
  const scores = query.mul(1 / Math.sqrt(query.dim(-1))).matmul(key.transpose(-2, -1));
  const weights = (mask ? scores.add(mask) : scores).softmax(-1);
  seen?.(weights);
  return (dropout ? dropout.forward(weights) : weights).matmul(value);
}

/** [B, T, D] → [B, heads, T, D/heads] */
export function splitHeads(x: Tensor, heads: number): Tensor {
  return x.reshape(x.dim(0), x.dim(1), heads, x.dim(2) / heads).transpose(1, 2);
}

/** [B, heads, T, d] → [B, T, heads·d] */
export function joinHeads(x: Tensor): Tensor {
  return x.transpose(1, 2).reshape(x.dim(0), x.dim(2), x.dim(1) * x.dim(3));
}

/** Projections of queries, keys and values. */
export interface Projections {
  readonly query: Linear;
  readonly key: Linear;
  readonly value: Linear;
}

/** x [B, T, D] attends to itself, heads apart and together again. The three projections are one product. */
export function selfAttend(
  x: Tensor,
  { query, key, value }: Projections,
  heads: number,
  options: Omit<AttendOptions, 'seen'> = {},
): Tensor {
  const { mask, dropout } = options;
  const parts = [query, key, value];
  const biases = parts.flatMap(({ bias }) => bias ?? []);
  const weight = cat(parts.map((part) => part.weight));
  const packed = linear(x, weight, biases.length > 0 ? cat(biases) : undefined);
  if (attentionFits(query.weight.dim(0) / heads, packed, mask))
    return fusedSelfAttention(packed, heads, { mask, dropout: dropout?.active });
  const [q, k, v] = packed.chunk(3, -1).map((part) => splitHeads(part, heads));
  return joinHeads(attend(q!, k!, v!, options));
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
    options: TensorOptions & { dropout?: number } = {},
  ) {
    super();
    if (width % heads !== 0) throw new RangeError(`a width of ${width} does not divide into ${heads} heads`);
    this.heads = heads;
    this.query = new Linear(width, width, generator, options);
    this.key = new Linear(width, width, generator, options);
    this.value = new Linear(width, width, generator, options);
    this.output = new Linear(width, width, generator, options);
    this.dropout = new Dropout(options.dropout ?? 0, generator);
  }

  /** Queries [B, T, D] over a memory [B, S, D]; `mask` broadcasts to [B, heads, T, S]. */
  forward(x: Tensor, memory: Tensor = x, mask?: Tensor): Tensor {
    const options = { mask, dropout: this.dropout };
    if (memory === x) return this.output.forward(selfAttend(x, this, this.heads, options));
    const mixed = attend(
      splitHeads(this.query.forward(x), this.heads),
      splitHeads(this.key.forward(memory), this.heads),
      splitHeads(this.value.forward(memory), this.heads),
      options,
    );
    return this.output.forward(joinHeads(mixed));
  }
}
