import { setImmediate } from 'node:timers/promises';
import {
  cat,
  fewLinear,
  type Generator,
  multinomial,
  randint,
  randperm,
  scope,
  stack,
  type Tensor,
  withoutGrad,
  zeros,
} from '@hidden-schema/torch';
import { drawStarts, memberSums, mostAligned, type StartSource, unmoved } from '../clusters.ts';
import type { Replicas } from '../train/replicas.ts';
import { unitRows } from './dictionary.ts';
import {
  drawnPlaces,
  isSmall,
  mostAtOnce,
  type PointSource,
  padRows,
  pointsAt,
  visitBlocks,
} from './point-source.ts';

// Shapes: N points, S width, K centres.

/** Points summed at a time. */
const summedAtOnce = 4096;

/** Rounds after which one of several starts is chosen. */
const trialRounds = 6;
/** Centres that starts draw together at the most, the first start apart: drawing costs the square of their number. */
const mostDrawn = 400;
/** Points a centre that starts are drawn from at the least. */
const fewestPoints = 4;

export interface MeansOptions {
  count: number;
  rounds: number;
  /** Starts of which the best is followed. */
  starts: number;
  /** Points among which starts are drawn and compared, or a few a centre if that is more. */
  seedingPoints: number;
  /** Directions that the first centres start at and stay near: each turns half to its points. [n, S] */
  anchors?: Tensor | undefined;
}

/**
 * Spherical k-means: each point goes to the centre of largest inner product, each centre to the direction of its
 * points. Starts are drawn with probability ∝ 1 − (nearest centre so far)·x as k-means++ does, each the best of a few
 * draws; the start whose centres come nearest to their points wins. [K, S], unit rows
 */
export function sphericalMeans(points: Tensor, options: MeansOptions, generator: Generator): Tensor {
  return withoutGrad(() => {
    const places = randperm(points.dim(0), generator).narrow(0, 0, sampleSize(points.dim(0), options));
    const start = bestStart(points.indexSelect(0, places), options, generator);
    return rounds(points, start, options.rounds, options.anchors);
  });
}

/** Points that starts are drawn from. */
const sampleSize = (points: number, { seedingPoints, count }: MeansOptions): number =>
  Math.min(points, Math.max(seedingPoints, fewestPoints * count));

/** Of several starts, that whose centres come nearest to the points of the sample. [K, S] */
function bestStart(sample: Tensor, options: MeansOptions, generator: Generator): Tensor {
  let best: { centres: Tensor; nearness: number } | undefined;
  const starts = Math.min(options.starts, Math.max(1, Math.floor(mostDrawn / options.count)));
  for (let start = 0; start < starts; start++) {
    const drawn = scope(() => startingCentres(sample, options, generator));
    const centres = rounds(sample, drawn, trialRounds, options.anchors);
    const nearness = scope(() => sample.matmul(centres.transpose(0, 1)).amax(1).sum().item());
    if (!best || nearness > best.nearness) best = { centres, nearness };
  }
  return best!.centres;
}

/** Who shares points out, and what may stop the work on them. */
export interface Shared {
  replicas: Replicas;
  signal?: AbortSignal | undefined;
}

/** The same of points that several processes hold: rank 0 finds the start, all sum their parts in each round. [K, S] */
export async function sharedMeans(
  points: PointSource,
  options: MeansOptions,
  generator: Generator,
  { replicas, signal }: Shared,
): Promise<Tensor> {
  const places = drawnPlaces(points.count, sampleSize(points.count, options), generator);
  let centres = withoutGrad(() => {
    const sample = pointsAt(points, places, replicas);
    return replicas.leads ? bestStart(sample, options, generator) : zeros([options.count, points.width]);
  }).keep();
  replicas.broadcast([centres]);
  try {
    for (let round = 0; round < options.rounds; round++) {
      const before = centres;
      const { sums, sizes } = await sharedSums(points, before, { replicas, signal });
      centres = withoutGrad(() =>
        anchored(unitRows(sums.to('float32').add(unmoved(before, sizes))), options.anchors),
      ).keep();
      for (const used of [before, sums, sizes]) used.free();
    }
    return centres;
  } catch (error) {
    centres.free();
    throw error;
  }
}

/** Sums of the points that are nearest to each centre, and how many they are, over all processes; in float64. */
async function sharedSums(
  points: PointSource,
  centres: Tensor,
  { replicas, signal }: Shared,
): Promise<{ sums: Tensor; sizes: Tensor }> {
  const K = centres.dim(0);
  const sums = zeros([K, points.width], { dtype: 'float64' }).keep();
  const sizes = zeros([K, 1], { dtype: 'float64' }).keep();
  const blocks = visitBlocks(points, mostAtOnce, (block) => {
    // All blocks of one shape, so that a point rounds alike whichever block it is in.
    const nearest = mostAligned(padRows(block, mostAtOnce), centres).narrow(0, 0, block.dim(0));
    const own = memberSums(isSmall(points.count) ? block.to('float64') : block, nearest, K);
    sums.add_(own.sums);
    sizes.add_(own.sizes);
  });
  try {
    for (const _ of blocks) {
      await setImmediate();
      if (signal?.aborted) break;
    }
    await replicas.syncOrAbort(signal);
    replicas.sum([sums, sizes]);
    return { sums, sizes };
  } catch (error) {
    sums.free();
    sizes.free();
    throw error;
  }
}

/** Rounds of k-means from given centres, which are freed. [K, S] */
export function rounds(points: Tensor, start: Tensor, count: number, anchors: Tensor | undefined): Tensor {
  let centres = start;
  for (let round = 0; round < count; round++) {
    const before = centres;
    centres = scope(() => anchored(nextCentres(points, before), anchors));
    before.free();
  }
  return centres;
}

function startingCentres(
  sample: Tensor,
  { count, anchors }: Pick<MeansOptions, 'count' | 'anchors'>,
  generator: Generator,
): Tensor {
  const first = anchors ?? sample.indexSelect(0, randint(sample.dim(0), [1], generator));
  const source: StartSource = {
    // The small floor draws evenly once every point is a centre.
    draw: (weights, some) => multinomial(weights.add(1e-6), some, generator),
    distances: (places) => farness(sample, sample.indexSelect(0, places)),
  };
  const closest = farness(sample, first).neg().amax(0).neg(); // [some]
  const places = drawStarts(source, closest, { missing: count - first.dim(0), K: count });
  return unitRows(stack([...first.unbind(0), ...places.map((place) => sample.select(0, place))]));
}

/** 1 − x·c for each centre, never below zero; of a few centres, points are read once. [centres, some] */
const farness = (points: Tensor, centres: Tensor): Tensor => fewLinear(centres, points).neg().add(1).clamp(0);

function nextCentres(points: Tensor, centres: Tensor): Tensor {
  const nearest = mostAligned(points, centres);
  const { sums, sizes } = memberSums(points, nearest, centres.dim(0), summedAtOnce);
  return unitRows(sums.add(unmoved(centres, sizes)));
}

/** Centres of which the first are drawn half the way to their anchors. */
export function anchored(centres: Tensor, anchors: Tensor | undefined): Tensor {
  if (!anchors) return centres;
  const n = anchors.dim(0);
  const held = unitRows(centres.narrow(0, 0, n).add(anchors));
  return cat([held, centres.narrow(0, n, centres.dim(0) - n)], 0);
}

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
  return withoutGrad(() => {
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
  });
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
