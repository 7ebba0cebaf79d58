import { native } from './native.ts';
import type { Generator } from './random.ts';
import { call, callMany, Tensor } from './tensor.ts';

/** Joins tensors along a dimension they have. */
export const cat = (tensors: readonly Tensor[], dim = 0): Tensor => call('cat', tensors, dim);
/** Joins tensors along a new dimension. */
export const stack = (tensors: readonly Tensor[], dim = 0): Tensor => call('stack', tensors, dim);
/** `yes` where the condition holds, else `no`. */
export function where(condition: Tensor, yes: Tensor, no: Tensor): Tensor {
  return call('where.self', condition, yes, no);
}
/** x·Wᵀ + b with W as [out, in]. */
export const linear = (x: Tensor, weight: Tensor, bias?: Tensor): Tensor => call('linear', x, weight, bias);
/** Rows of `weight` by their numbers. */
export const embedding = (weight: Tensor, indices: Tensor): Tensor => call('embedding', weight, indices);
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
  // For each row, 0 where a target is −100.
  const byRow = reduction === 'none' && ignoreIndex === plainIgnore && target.dtype === 'int64';
  if (byRow && fusable(logits)) return call('engine::cross_entropy', logits, target);
  return call('cross_entropy_loss', logits, target, undefined, reductions[reduction], ignoreIndex);
}

/** Drops elements with probability p and scales the rest by 1/(1−p). */
export function dropout(x: Tensor, p: number, generator: Generator): Tensor {
  if (p === 0) return x;
  if (!(p > 0 && p < 1)) throw new RangeError(`a dropout probability lies in [0, 1), got ${p}`);
  // It keeps no mask: the gradient draws it again.
  if (fusable(x)) return call('engine::dropout', x, p, ...drawing(generator, x.size));
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
  { layers, bidirectional }: { layers: number; bidirectional: boolean },
): { output: Tensor; hidden: Tensor; cell: Tensor } {
  // With biases, without dropout, and not as in training; batches first.
  const settings = [true, layers, 0, false, bidirectional, true];
  const [output, hidden, cell] = callMany('lstm.input', x, state, weights, ...settings);
  return { output: output!, hidden: hidden!, cell: cell! };
}

// Shapes are checked before memory is read: a TorchError says what was expected. Sizes may be zero and elements may lie
// in memory as they like. A second gradient is refused, but of the linear layers, whose gradients are libtorch's.

let kernels = true;

/** Runs `body` with libtorch's operators in place of the addon's kernels, as on every device but the CPU. */
export function withoutKernels<T>(body: () => T): T {
  const before = kernels;
  kernels = false;
  try {
    return body();
  } finally {
    kernels = before;
  }
}

/** Whether the addon has kernels for a device. */
export const hasKernels = (device: string): boolean => kernels && device === 'cpu';

/** Whether the addon's own kernels take a tensor: they are written for float32 on the CPU. */
export const fusable = (x: Tensor): boolean => x.dtype === 'float32' && hasKernels(x.device);

/** What a process draws a mask from: its generator, and how many elements other processes' rows of the batch hold before. */
function drawing(generator: Generator, size: number): [Generator, number] {
  return [generator, (generator.share?.index ?? 0) * size];
}

/** base + dropout(x), one pass where their shapes are one. */
export function addDropout(base: Tensor, x: Tensor, p: number, generator: Generator): Tensor {
  return call('engine::add_dropout', base, x, p, ...drawing(generator, x.size));
}

/** dropout(relu(x)), one pass. */
export function reluDropout(x: Tensor, p: number, generator: Generator): Tensor {
  return call('engine::relu_dropout', x, p, ...drawing(generator, x.size));
}

/** Heads of this width, or a multiple, fill the vectors of the attention kernel. */
const headLanes = 16;

/** Whether the kernel takes these operands, whose heads have the given width. */
export function attentionFits(width: number, ...operands: (Tensor | undefined)[]): boolean {
  return width % headLanes === 0 && operands.every((x) => x === undefined || fusable(x));
}

/**
 * softmax(d^{-1/2} Q·Kᵀ + mask)·V with dropout on the weights, on queries [B, H, T, d] and keys and values
 * [B, G, S, d], where each of G heads serves H/G that follow one another. d is a multiple of 16; the mask is not trained.
 */
export function fusedAttention(
  query: Tensor,
  key: Tensor,
  value: Tensor,
  { mask, dropout }: FusedOptions = {},
): Tensor {
  const weights = () => query.dim(0) * query.dim(1) * query.dim(2) * key.dim(2);
  return call('engine::attention', query, key, value, mask, ...drops(dropout, weights));
}

/** The same of queries, keys and values side by side, [B, T, 3·H·d], as one projection gives them. [B, T, H·d] */
export function fusedSelfAttention(
  packed: Tensor,
  heads: number,
  { mask, dropout }: FusedOptions = {},
): Tensor {
  const weights = () => packed.dim(0) * heads * packed.dim(1) ** 2;
  return call('engine::self_attention', packed, heads, mask, ...drops(dropout, weights));
}

interface FusedOptions {
  mask?: Tensor | undefined;
  dropout?: { p: number; generator: Generator } | undefined;
}

const drops = (dropout: FusedOptions['dropout'], weights: () => number) =>
  dropout ? ([dropout.p, ...drawing(dropout.generator, weights())] as const) : [];

/** GPT-2's GELU, by its tanh approximation. */
export const tanhGelu = (x: Tensor): Tensor => (fusable(x) ? call('engine::gelu', x) : x.gelu('tanh'));

/** gelu(x·Wᵀ + b) for a weight [out, in]; one pass after the product where no gradient is asked for. */
export function linearGelu(x: Tensor, weight: Tensor, bias: Tensor, approximate: 'none' | 'tanh'): Tensor {
  return call('engine::linear_gelu', x, weight, bias, approximate === 'tanh');
}

/** The layer norm of base + x·Wᵀ + b, likewise. */
export function linearNorm(
  x: Tensor,
  layer: { weight: Tensor; bias: Tensor },
  base: Tensor,
  norm: { weight: Tensor; bias: Tensor; epsilon: number },
): Tensor {
  return call('engine::linear_norm', x, layer.weight, layer.bias, base, norm.weight, norm.bias, norm.epsilon);
}

/** x·Wᵀ + b; of at most eight rows, and where no gradient is asked for, the weight is read once and not copied. */
export function fewLinear(x: Tensor, weight: Tensor, bias?: Tensor): Tensor {
  return call('engine::few_linear', x, weight, bias);
}
