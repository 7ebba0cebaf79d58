import type { Generator } from './random.ts';
import { call, type Tensor } from './tensor.ts';

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
export function fusable(x: Tensor): boolean {
  return x.dtype === 'float32' && hasKernels(x.device);
}

/** What a process draws a mask from: its generator, and how many elements other processes' rows of the batch hold before. */
function drawing(generator: Generator, size: number): [Generator, number] {
  return [generator, (generator.share?.index ?? 0) * size];
}

/** Dropout that keeps no mask: the gradient draws it again. */
export function fusedDropout(x: Tensor, p: number, generator: Generator): Tensor {
  return call('engine::dropout', x, p, ...drawing(generator, x.size));
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
  options: { mask?: Tensor | undefined; dropout?: { p: number; generator: Generator } | undefined } = {},
): Tensor {
  const { mask, dropout } = options;
  if (!dropout) return call('engine::attention', query, key, value, mask);
  const weights = query.dim(0) * query.dim(1) * query.dim(2) * key.dim(2);
  return call(
    'engine::attention',
    query,
    key,
    value,
    mask,
    dropout.p,
    ...drawing(dropout.generator, weights),
  );
}

/** The same of queries, keys and values side by side, [B, T, 3·H·d], as one projection gives them. [B, T, H·d] */
export function fusedSelfAttention(
  packed: Tensor,
  heads: number,
  options: { mask?: Tensor | undefined; dropout?: { p: number; generator: Generator } | undefined } = {},
): Tensor {
  const { mask, dropout } = options;
  if (!dropout) return call('engine::self_attention', packed, heads, mask);
  const weights = packed.dim(0) * heads * packed.dim(1) ** 2;
  return call(
    'engine::self_attention',
    packed,
    heads,
    mask,
    dropout.p,
    ...drawing(dropout.generator, weights),
  );
}

/** Cross-entropy of logits [N, V] with targets [N] for each row, 0 where a target is −100. [N] */
export function fusedCrossEntropy(logits: Tensor, targets: Tensor): Tensor {
  return call('engine::cross_entropy', logits, targets);
}

/** GPT-2's GELU, by its tanh approximation. */
export function tanhGelu(x: Tensor): Tensor {
  return fusable(x) ? call('engine::gelu', x) : x.gelu('tanh');
}

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
