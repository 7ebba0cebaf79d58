import type { Random } from '@hidden-schema/base/random';
import { drawStarts } from '@hidden-schema/hsn/clusters';
import { scope } from '@hidden-schema/torch/scope';
import { Tensor } from '@hidden-schema/torch/tensor';

/** First centres by greedy k-means++ on squared distances. [N, D] → [K, D] */
export function drawnCentres(points: Tensor, K: number, random: Random): Tensor {
  return scope(() => {
    const norms = points.mul(points).sum(1);
    const source = {
      draw: (weights: Tensor, some: number) => placesOf(drawnByWeight(weights.toArray(), some, random)),
      distances: (places: Tensor) => distances(points, norms, places),
    };
    const first = placesOf([random.int(points.dim(0))]);
    const closest = source.distances(first).select(0, 0).contiguous();
    const others = drawStarts(source, closest, { missing: K - 1, K });
    return points.indexSelect(0, placesOf([first.item(), ...others]));
  });
}

const placesOf = (places: readonly number[]): Tensor =>
  Tensor.fromArray(BigInt64Array.from(places, BigInt), [places.length]);

/** Squared distances from some of the points to all. [some, N] */
function distances(points: Tensor, norms: Tensor, from: Tensor): Tensor {
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
