import { noGrad, scope, type Tensor } from '@hidden-schema/torch';
import { unitRows } from './dictionary.ts';

// Shapes: N points, S their width, K symbols.

/** Points of a block. */
const atOnce = 4096;
/** Nats of a cosine of one. */
const sharpness = 30;
const steps = 30;
const rate = 0.1;
const momentum = 0.9;

/**
 * Directions of which the nearest is the symbol that each point was given to: softmax regression with unit rows, from the
 * symbols' own directions on, a few steps of gradient ascent with momentum. Groups that were found among diffused points
 * are read from points as they are, of new texts too. points [N, S], given [N] int64, symbols [K, S] → [K, S]
 */
export function fitStarts(points: Tensor, given: Tensor, symbols: Tensor): Tensor {
  const K = symbols.dim(0);
  return noGrad(() =>
    scope(() => {
      const members = given.oneHot(K).to('float32'); // [N, K]
      const sizes = members.sum(0).clamp(1).unsqueeze(1);
      let directions = symbols.clone();
      let velocity = symbols.mul(0);
      for (let step = 0; step < steps; step++) {
        const before = [directions, velocity];
        [directions, velocity] = scope(() => {
          const ascent = likelihoodGradient(points, members, directions).div(sizes);
          const next = velocity.mul(momentum).add(ascent.mul(rate));
          return [unitRows(directions.add(next)), next];
        }) as [Tensor, Tensor];
        for (const used of before) used.free();
      }
      return directions;
    }),
  );
}

/** Ascent of Σ_n log softmax(κ·x_n·d), divided by κ: Σ_n (1[k is given] − softmax(κ·x_n·d)_k)·x_n [K, S] */
export function likelihoodGradient(points: Tensor, members: Tensor, directions: Tensor): Tensor {
  const turned = directions.transpose(0, 1);
  const sum = directions.mul(0);
  for (let first = 0; first < points.dim(0); first += atOnce)
    scope(() => {
      const some = Math.min(atOnce, points.dim(0) - first);
      const block = points.narrow(0, first, some);
      const chances = block.matmul(turned).mul(sharpness).softmax(1);
      sum.add_(members.narrow(0, first, some).sub(chances).transpose(0, 1).matmul(block));
    });
  return sum;
}
