import {
  type Generator,
  multinomial,
  noGrad,
  randperm,
  scope,
  stack,
  type Tensor,
  zeros,
} from '@hidden-schema/torch';
import { unitRows } from './dictionary.ts';

// Shapes: N points, S width, K centres.

const blockRows = 4096;

export interface MeansOptions {
  count: number;
  rounds: number;
  /** Points for each centre among which starts are drawn. */
  seedingPoints: number;
}

/**
 * Spherical k-means: each point goes to the centre of largest inner product, each centre to the direction of its
 * points. Starts are drawn with probability ∝ 1 − (nearest centre so far)·x, as k-means++ does. [K, S], unit rows
 */
export function sphericalMeans(points: Tensor, options: MeansOptions, generator: Generator): Tensor {
  return noGrad(() =>
    scope(() => {
      let centres = startingCentres(points, options, generator);
      for (let round = 0; round < options.rounds; round++) {
        const before = centres;
        centres = scope(() => nextCentres(points, before));
        before.free();
      }
      return centres;
    }),
  );
}

function startingCentres(points: Tensor, options: MeansOptions, generator: Generator): Tensor {
  const N = points.dim(0);
  const some = Math.min(N, options.count * options.seedingPoints);
  const sample = points.indexSelect(0, randperm(N, generator).narrow(0, 0, some));
  const chosen = [sample.select(0, 0)];
  let distance = farness(sample, chosen[0]!);
  while (chosen.length < options.count) {
    // The small floor draws evenly once every point is a centre.
    const drawn = multinomial(distance.add(1e-6), 1, generator).item();
    const next = sample.select(0, drawn);
    chosen.push(next);
    distance = distance.minimum(farness(sample, next));
  }
  return unitRows(stack(chosen));
}

/** 1 − x·c, never below zero. [N] */
function farness(points: Tensor, centre: Tensor): Tensor {
  return points.matmul(centre).neg().add(1).clamp(0);
}

function nextCentres(points: Tensor, centres: Tensor): Tensor {
  const [K, S] = centres.shape as [number, number];
  const sums = zeros([K, S]);
  const sizes = zeros([K, 1]);
  for (let first = 0; first < points.dim(0); first += blockRows) {
    scope(() => {
      const block = points.narrow(0, first, Math.min(blockRows, points.dim(0) - first));
      const members = block.matmul(centres.transpose(0, 1)).argmax(1).oneHot(K).to('float32').transpose(0, 1);
      sums.add_(members.matmul(block));
      sizes.add_(members.sum(1, true));
    });
  }
  // A centre without points stays where it is.
  return unitRows(sums.add(centres.mul(sizes.eq(0).to('float32'))));
}
