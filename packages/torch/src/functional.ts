import { fusable, fusedCrossEntropy, fusedDropout, hasKernels } from './fused.ts';
import { native } from './native.ts';
import type { Generator } from './random.ts';
import { call, callMany, Tensor } from './tensor.ts';

/** Joins tensors along a dimension they have. */
export function cat(tensors: readonly Tensor[], dim = 0): Tensor {
  return call('cat', tensors, dim);
}
/** Joins tensors along a new dimension. */
export function stack(tensors: readonly Tensor[], dim = 0): Tensor {
  return call('stack', tensors, dim);
}
/** `yes` where the condition holds, else `no`. */
export function where(condition: Tensor, yes: Tensor, no: Tensor): Tensor {
  return call('where.self', condition, yes, no);
}
/** x·Wᵀ + b with W as [out, in]. */
export function linear(x: Tensor, weight: Tensor, bias?: Tensor): Tensor {
  return call('linear', x, weight, bias);
}
/** Rows of `weight` by their numbers. */
export function embedding(weight: Tensor, indices: Tensor): Tensor {
  return call('embedding', weight, indices);
}
/** Normalises the last dimension, then scales and shifts it. */
export function layerNorm(x: Tensor, weight: Tensor, bias: Tensor, epsilon = 1e-5): Tensor {
  return call('layer_norm', x, weight.shape, weight, bias, epsilon);
}

export type Reduction = 'none' | 'mean' | 'sum';
/** The target that libtorch takes for none. */
const plainIgnore = -100;
const reductions: Record<Reduction, number> = { none: 0, mean: 1, sum: 2 };

/** Cross-entropy of logits [N, C] with class indices [N]; rows of `ignoreIndex` count for nothing. */
export function crossEntropy(
  logits: Tensor,
  target: Tensor,
  options: { reduction?: Reduction; ignoreIndex?: number } = {},
): Tensor {
  const { reduction = 'mean', ignoreIndex = plainIgnore } = options;
  const byRow = reduction === 'none' && ignoreIndex === plainIgnore && target.dtype === 'int64';
  if (byRow && fusable(logits)) return fusedCrossEntropy(logits, target);
  return call('cross_entropy_loss', logits, target, undefined, reductions[reduction], ignoreIndex);
}

/** Drops elements with probability p and scales the rest by 1/(1−p). */
export function dropout(x: Tensor, p: number, generator: Generator): Tensor {
  if (p === 0) return x;
  if (!(p > 0 && p < 1)) throw new RangeError(`a dropout probability lies in [0, 1), got ${p}`);
  if (fusable(x)) return fusedDropout(x, p, generator);
  const before = (generator.share?.index ?? 0) * x.size;
  const device = hasKernels(x.device) ? undefined : x.device;
  const mask = native.dropoutMask(x.shape, p, generator.handle, before, device);
  return x.mul(new Tensor(mask, 'dropout mask').to(x.dtype));
}

/** An LSTM layer stack by libtorch's own kernel; x is [batch, time, input]. */
export function lstm(
  x: Tensor,
  state: readonly [Tensor, Tensor],
  weights: readonly Tensor[],
  options: { layers: number; bidirectional: boolean },
): { output: Tensor; hidden: Tensor; cell: Tensor } {
  const [output, hidden, cell] = callMany(
    'lstm.input',
    x,
    state,
    weights,
    true,
    options.layers,
    0,
    false,
    options.bidirectional,
    true,
  );
  return { output: output!, hidden: hidden!, cell: cell! };
}
