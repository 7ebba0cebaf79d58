import { Random } from '@hidden-schema/base/random';
import { memberSums, nearestCentre } from '@hidden-schema/hsn/clusters';
import { noGrad } from '@hidden-schema/torch/autograd';
import { cat } from '@hidden-schema/torch/functional';
import { scope } from '@hidden-schema/torch/scope';
import { Tensor } from '@hidden-schema/torch/tensor';
import { drawnCentres } from './k-means-start.ts';

// Shapes: N points, D width, K clusters.

interface KMeansOptions {
  clusters: number;
  seed: number;
  /** The best of so many starts is taken. */
  restarts?: number;
  iterations?: number;
  /** Ends when centres move by less, as a share of the points' variance. */
  tolerance?: number;
}

interface KMeansFit {
  /** [K, D] */
  readonly centres: Float32Array;
  /** [N] */
  readonly clusters: Int32Array;
  /** Σ of squared distances to the nearest centre. */
  readonly inertia: number;
}

/** Lloyd's k-means from centres drawn by k-means++ (Arthur & Vassilvitskii 2007). [N, D] */
export function fitKMeans(points: Tensor, options: KMeansOptions): KMeansFit {
  const random = new Random(options.seed);
  let best: KMeansFit | undefined;
  for (let start = 0; start < (options.restarts ?? 1); start++) {
    const fit = noGrad(() => scope(() => fitOnce(points, options, random)));
    if (!best || fit.inertia < best.inertia) best = fit;
  }
  return best!;
}

function fitOnce(points: Tensor, options: KMeansOptions, random: Random): KMeansFit {
  const { clusters: K, iterations = 300, tolerance = 1e-4 } = options;
  const enough = tolerance * meanVariance(points);
  let centres = drawnCentres(points, K, random);
  for (let i = 0; i < iterations; i++) {
    const before = centres;
    const { moved, next } = scope(() => {
      const means = meansOfMembers(points, nearestCentre(points, before), before);
      const change = means.sub(before);
      return { next: means, moved: change.mul(change).sum().item() };
    });
    before.free();
    centres = next;
    if (moved <= enough) break;
  }
  const clusters = nearestCentre(points, centres);
  return {
    centres: centres.toArray() as Float32Array,
    clusters: Int32Array.from(clusters.toNumbers()),
    inertia: squaredDistances(points, centres, clusters).to('float64').sum().item(),
  };
}

function meanVariance(points: Tensor): number {
  const apart = points.sub(points.mean(0));
  return apart.mul(apart).mean().item();
}

/** Points measured at a time. */
const block = 16384;

/** Squared distances of points to their centres. [N] */
function squaredDistances(points: Tensor, centres: Tensor, clusters: Tensor): Tensor {
  const parts: Tensor[] = [];
  for (let first = 0; first < points.dim(0); first += block)
    parts.push(
      scope(() => {
        const some = Math.min(block, points.dim(0) - first);
        // From the difference itself: the expanded square loses the digits of near points.
        const own = centres.indexSelect(0, clusters.narrow(0, first, some));
        const apart = points.narrow(0, first, some).sub(own);
        return apart.mul(apart).sum(1);
      }),
    );
  return cat(parts);
}

/** Means of members; a centre that has lost all moves to one of the points farthest from theirs. [K, D] */
function meansOfMembers(points: Tensor, clusters: Tensor, before: Tensor): Tensor {
  const K = before.dim(0);
  const { sums, sizes } = memberSums(points, clusters, K);
  const means = sums.div(sizes.clamp(1));
  const empty = sizes.toNumbers().flatMap((size, k) => (size === 0 ? [k] : []));
  if (empty.length === 0) return means;
  const count = Math.min(empty.length, points.dim(0));
  const far = squaredDistances(points, before, clusters).topk(count, 0).indices;
  const places = Array.from({ length: K }, (_, k) => k);
  for (const [at, k] of empty.entries()) places[k] = at < count ? 2 * K + at : K + k;
  const all = cat([means, before, points.indexSelect(0, far)]);
  return all.indexSelect(0, Tensor.fromArray(BigInt64Array.from(places, BigInt), [K]));
}
