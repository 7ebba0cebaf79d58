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
const divisor = (scale: Tensor): Tensor => scale.add(scale.eq(0).to(scale.dtype));

/**
 * Forward-backward: the exact posterior over walks where the likelihood factorises over steps. Each step is a product
 * of [B, K] with [K, K]; `emissions` are p(x_i|z_i = k) as L tensors [B, K], `matrix` is [from, to].
 */
export function smoothWalks(start: Tensor, matrix: Tensor, emissions: readonly Tensor[]): Smoothed {
  const B = emissions[0]!.dim(0);
  let traversals = matrix.mul(0);
  let squares = matrix.mul(0);
  const { marginals, scales } = passes(start, matrix, emissions, (before, seen) => {
    const left = before.transpose(0, 1); // [K, B]
    traversals = traversals.add(left.matmul(seen));
    squares = squares.add(left.mul(left).matmul(seen.mul(seen)));
  });
  return {
    marginals,
    traversals: traversals.mul(matrix).div(B),
    certainty: squares.mul(matrix).mul(matrix).div(B),
    start: marginals[0]!.mean(0),
    logLikelihood: scales
      .map((s) => s.log())
      .reduce((sum, s) => sum.add(s))
      .squeeze(1),
  };
}

/** The marginals of `smoothWalks` alone, at half the work. L tensors [B, K] */
export const smoothedMarginals = (start: Tensor, matrix: Tensor, emissions: readonly Tensor[]): Tensor[] =>
  passes(start, matrix, emissions).marginals;

/** Both passes; `visit` gets the forward message before each step, and what the rest of the sentence says after it. */
function passes(
  start: Tensor,
  matrix: Tensor,
  emissions: readonly Tensor[],
  visit: (before: Tensor, seen: Tensor) => void = () => {},
): { marginals: Tensor[]; scales: Tensor[] } {
  const { forward, scales } = filterForward(start, matrix, emissions);
  const L = emissions.length;
  const backwardMatrix = matrix.transpose(0, 1).contiguous();
  let beta = emissions[0]!.mul(0).add(1);
  const marginals: Tensor[] = [forward[L - 1]!];
  for (let i = L - 2; i >= 0; i--) {
    const seen = emissions[i + 1]!.mul(beta).div(divisor(scales[i + 1]!)); // [B, K]
    visit(forward[i]!, seen);
    beta = seen.matmul(backwardMatrix);
    marginals.unshift(forward[i]!.mul(beta));
  }
  return { marginals, scales };
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
