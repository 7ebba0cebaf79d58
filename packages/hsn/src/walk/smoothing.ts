import type { Tensor } from '@hidden-schema/torch';

// Shapes: B sentences, L steps, K symbols.

export interface Smoothed {
  /** Posterior of each step's node given the whole sentence. L tensors [B, K] */
  readonly marginals: readonly Tensor[];
  /** Expected traversals from j to k, per sentence, summed over steps. [K, K] */
  readonly traversals: Tensor;
  /** The same with each traversal's probability squared: near `traversals` where they are certain, else far below. */
  readonly certainty: Tensor;
  /** Mean over the batch of the posterior of the first node. [K] */
  readonly start: Tensor;
  /** log p(x) of each sentence, −∞ where no walk explains it. [B] */
  readonly logLikelihood: Tensor;
}

/** A sentence that no walk explains has scale zero: with 1 instead it counts for nothing and spoils no mean. */
function divisor(scale: Tensor): Tensor {
  return scale.add(scale.eq(0).to(scale.dtype));
}

/**
 * Forward-backward: the exact posterior over walks where the likelihood factorises over steps. Each step is a product
 * of [B, K] with [K, K]; `emissions` are p(x_i|z_i = k) as L tensors [B, K], `matrix` is [from, to].
 */
export function smoothWalks(start: Tensor, matrix: Tensor, emissions: readonly Tensor[]): Smoothed {
  const { forward, scales } = filterForward(start, matrix, emissions);
  const L = emissions.length;
  const backwardMatrix = matrix.transpose(0, 1).contiguous();
  let beta = emissions[0]!.mul(0).add(1);
  const marginals: Tensor[] = [forward[L - 1]!];
  let traversals = matrix.mul(0);
  let squares = matrix.mul(0);
  for (let i = L - 2; i >= 0; i--) {
    const seen = emissions[i + 1]!.mul(beta).div(divisor(scales[i + 1]!)); // [B, K]
    const left = forward[i]!.transpose(0, 1); // [K, B]
    traversals = traversals.add(left.matmul(seen));
    squares = squares.add(left.mul(left).matmul(seen.mul(seen)));
    beta = seen.matmul(backwardMatrix);
    marginals.unshift(forward[i]!.mul(beta));
  }
  return {
    marginals,
    traversals: traversals.mul(matrix).div(emissions[0]!.dim(0)),
    certainty: squares.mul(matrix).mul(matrix).div(emissions[0]!.dim(0)),
    start: marginals[0]!.mean(0),
    logLikelihood: scales
      .map((s) => s.log())
      .reduce((sum, s) => sum.add(s))
      .squeeze(1),
  };
}

/** Filtered, normalised forward messages and their scales [B, 1]. */
function filterForward(start: Tensor, matrix: Tensor, emissions: readonly Tensor[]) {
  const forward: Tensor[] = [];
  const scales: Tensor[] = [];
  for (const [i, emission] of emissions.entries()) {
    const predicted = i === 0 ? start.unsqueeze(0) : forward[i - 1]!.matmul(matrix);
    const joint = predicted.mul(emission);
    const scale = joint.sum(1, true);
    scales.push(scale);
    forward.push(joint.div(divisor(scale)));
  }
  return { forward, scales };
}
