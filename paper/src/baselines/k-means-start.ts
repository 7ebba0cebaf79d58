import type { Random } from '@hidden-schema/base/random';
import { stack } from '@hidden-schema/torch/functional';
import { scope } from '@hidden-schema/torch/scope';
import { Tensor } from '@hidden-schema/torch/tensor';

/**
 * First centres: points drawn one by one with a chance in proportion to the squared distance from those drawn before,
 * the best of 2 + ln K draws each time (greedy k-means++). [N, D] → [K, D]
 */
export function drawnCentres(points: Tensor, K: number, random: Random): Tensor {
  return scope(() => {
    const norms = points.mul(points).sum(1);
    const first = random.int(points.dim(0));
    const chosen = [first];
    let closest = distances(points, norms, [first]).select(0, 0);
    const draws = 2 + Math.floor(Math.log(K));
    while (chosen.length < K) {
      const drawn = drawnByWeight(closest.toArray(), draws, random);
      const before = closest;
      const { best, left } = scope(() => {
        const reach = distances(points, norms, drawn).minimum(before); // [draws, N]
        const best = reach.sum(1).neg().argmax(0).item();
        return { best, left: reach.select(0, best).clone() };
      });
      chosen.push(drawn[best]!);
      closest = left;
      before.free();
    }
    return stack(chosen.map((point) => points.select(0, point)));
  });
}

/** Squared distances from some of the points to all. [some, N] */
function distances(points: Tensor, norms: Tensor, some: readonly number[]): Tensor {
  const from = Tensor.fromArray(BigInt64Array.from(some, BigInt), [some.length]);
  const products = points.indexSelect(0, from).matmul(points.transpose(0, 1));
  return products.mul(-2).add(norms).add(norms.indexSelect(0, from).unsqueeze(1)).clamp(0);
}

/** Places drawn in proportion to weights; where all are zero, any place. */
function drawnByWeight(weights: ArrayLike<number | bigint>, count: number, random: Random): number[] {
  const sums = new Float64Array(weights.length);
  let total = 0;
  for (let at = 0; at < weights.length; at++) {
    total += Number(weights[at]);
    sums[at] = total;
  }
  return Array.from({ length: count }, () => {
    if (total === 0) return random.int(weights.length);
    return firstAbove(sums, random.next() * total);
  });
}

/** The first place whose running sum is above a number, by halving. */
function firstAbove(sums: Float64Array, wanted: number): number {
  let [low, high] = [0, sums.length - 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sums[middle]! > wanted) high = middle;
    else low = middle + 1;
  }
  return low;
}
