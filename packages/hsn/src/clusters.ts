import { cat, scope, type Tensor, zeros } from '@hidden-schema/torch';

// Shapes: N points, D width, K centres. One round of k-means, whichever way nearness is measured.

/** Points compared with the centres at a time. */
const block = 8192;

/** The nearest of K centres for each point by squared distance, among those `allowed` (0 or 1, [N, K]). [N] int64 */
export function nearestCentre(points: Tensor, centres: Tensor, allowed?: Tensor): Tensor {
  const norms = centres.mul(centres).sum(1);
  return highestCentre(points, centres, (products, first) => {
    const closeness = products.mul(2).sub(norms);
    if (!allowed) return closeness;
    const some = allowed.narrow(0, first, products.dim(0));
    return closeness.maskedFill(some.eq(0), Number.NEGATIVE_INFINITY);
  });
}

/** The centre of the largest inner product for each point. [N] int64 */
export const mostAligned = (points: Tensor, centres: Tensor): Tensor =>
  highestCentre(points, centres, (products) => products);

/** The centre that scores highest for each point; scores [n, K] are made of inner products, block by block. [N] int64 */
function highestCentre(
  points: Tensor,
  centres: Tensor,
  scores: (products: Tensor, first: number) => Tensor,
): Tensor {
  const turned = centres.transpose(0, 1);
  const parts: Tensor[] = [];
  for (let first = 0; first < points.dim(0); first += block) {
    const some = Math.min(block, points.dim(0) - first);
    parts.push(scope(() => scores(points.narrow(0, first, some).matmul(turned), first).argmax(1)));
  }
  return cat(parts, 0);
}

/** Sums of the points that went to each centre [K, D] and how many they are [K, 1]; `atOnce` points are held K times. */
export function memberSums(
  points: Tensor,
  nearest: Tensor,
  K: number,
  atOnce: number = points.dim(0),
): { sums: Tensor; sizes: Tensor } {
  const like = { dtype: points.dtype, device: points.device };
  const sums = zeros([K, points.dim(1)], like);
  const sizes = zeros([K, 1], like);
  for (let first = 0; first < points.dim(0); first += atOnce)
    scope(() => {
      const some = Math.min(atOnce, points.dim(0) - first);
      const members = nearest.narrow(0, first, some).oneHot(K).to(points.dtype).transpose(0, 1); // [K, some]
      sums.add_(members.matmul(points.narrow(0, first, some)));
      sizes.add_(members.sum(1, true));
    });
  return { sums, sizes };
}

/** Centres that lost all their points, where they were before; zeros in the place of others. [K, D] */
export const unmoved = (before: Tensor, sizes: Tensor): Tensor => before.mul(sizes.eq(0).to(before.dtype));

/** Where starts are drawn: places of points by weights [N] → [some] int64, and distances from those places. [some, N] */
export interface StartSource {
  draw(weights: Tensor, some: number): Tensor;
  distances(places: Tensor): Tensor;
}

/**
 * Greedy k-means++ (Arthur & Vassilvitskii 2007): points drawn one after the other by their distance `closest` [N] to
 * the nearest one before, each the best of 2 + ln K draws. Frees `closest`; returns the places of `missing` points.
 */
export function drawStarts(
  { draw, distances }: StartSource,
  closest: Tensor,
  { missing, K }: { missing: number; K: number },
): number[] {
  const chosen: number[] = [];
  const trials = 2 + Math.floor(Math.log(K));
  let before = closest;
  while (chosen.length < missing) {
    const drawn = draw(before, trials);
    const best = scope(() => {
      const after = distances(drawn).minimum(before); // [trials, N]
      const at = after.sum(1).neg().argmax().item();
      return { at, distance: after.select(0, at).contiguous() };
    });
    chosen.push(drawn.select(0, best.at).item());
    before.free();
    before = best.distance;
  }
  return chosen;
}
