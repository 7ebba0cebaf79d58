import { setImmediate } from 'node:timers/promises';
import { arange, call, callMany, noGrad, scope, Tensor, withoutGrad, zeros } from '@hidden-schema/torch';
import { unitRows } from './dictionary.ts';
import type { DiscoveryOptions } from './options.ts';
import { mostAtOnce } from './point-source.ts';
import type { Shared } from './spherical-means.ts';

// Shapes: N points, S their width, k neighbours of each, E links of the graph of texts.

/** Numbers of one block's products with all points. */
const blockNumbers = 1 << 24;
/** Share of the neighbours' mean in each step. */
const mixed = 0.5;

/** A weighted graph of texts by rows: `offsets` into `targets` and `weights`; the weights of a row sum to 1. */
interface TextGraph {
  offsets: Int32Array; // [N]
  targets: Int32Array; // [E]
  weights: Float32Array; // [E]
}

/**
 * Points averaged with their nearest neighbours, step by step: y ← unit((y + P·y) / 2), P being the row-scaled graph of
 * texts in which each is linked to its `neighbours` nearest by cos², both ways. Groups of texts become clearer, and
 * points stay in the space of the encoder. Every process has all points, and looks for the neighbours of some. [N, S]
 */
export async function diffusePoints(
  points: Tensor,
  options: Pick<DiscoveryOptions, 'neighbours' | 'diffusionSteps'>,
  shared: Shared,
): Promise<Tensor> {
  const neighbours = Math.min(options.neighbours, points.dim(0) - 1);
  if (options.diffusionSteps === 0 || neighbours < 1) return points.clone().keep();
  const graph = graphOf(await nearestTexts(points, neighbours, shared));
  return withoutGrad(() => diffused(points, graph, options.diffusionSteps)).keep();
}

function diffused(points: Tensor, graph: TextGraph, steps: number): Tensor {
  const list = (numbers: Int32Array | Float32Array) => Tensor.fromArray(numbers, [numbers.length]);
  const [offsets, targets, weights] = [list(graph.offsets), list(graph.targets), list(graph.weights)];
  const sum = 0;
  const state = unitCopy(points);
  for (let step = 0; step < steps; step++)
    scope(() => {
      const [bags] = callMany('embedding_bag', state, targets, offsets, false, sum, false, weights, false);
      inBlocks(state, (rows, first) => {
        const means = bags!.narrow(0, first, rows.dim(0)).mul(mixed);
        return unitRows(rows.mul(1 - mixed).add(means));
      });
    });
  return state;
}

/** Changes rows in their place, so many at a time that what is computed on the way stays small. */
function inBlocks(all: Tensor, change: (rows: Tensor, first: number) => Tensor): void {
  const count = all.dim(0);
  for (let first = 0; first < count; first += mostAtOnce)
    scope(() => {
      const rows = all.narrow(0, first, Math.min(mostAtOnce, count - first));
      rows.copy_(change(rows, first));
    });
}

function unitCopy(points: Tensor): Tensor {
  const unit = points.clone();
  inBlocks(unit, unitRows);
  return unit;
}

/** The nearest texts of each, and their cosines; of equal ones the lowest places. [N, k] each */
interface NearestTexts {
  places: Float64Array;
  cosines: Float64Array;
  count: number;
  neighbours: number;
}

/** Blocks are the same however many processes share them out, so that all find the same neighbours. */
export async function nearestTexts(
  points: Tensor,
  neighbours: number,
  { replicas, signal }: Shared,
): Promise<NearestTexts> {
  const count = points.dim(0);
  const rows = Math.max(1, Math.min(mostAtOnce, Math.floor(blockNumbers / count)));
  const unit = noGrad(() => unitCopy(points)).keep();
  const places = zeros([count, neighbours], { dtype: 'float64' }).keep();
  const cosines = zeros([count, neighbours], { dtype: 'float64' }).keep();
  try {
    for (let block = replicas.rank; block * rows < count; block += replicas.size) {
      const first = block * rows;
      const some = Math.min(rows, count - first);
      withoutGrad(() => {
        const { values, indices } = othersOf(unit, first, some).topk(neighbours, 1);
        places.narrow(0, first, some).copy_(indices.to('float64'));
        cosines.narrow(0, first, some).copy_(values.to('float64'));
      });
      await setImmediate();
      if (signal?.aborted) break;
    }
    await replicas.syncOrAbort(signal);
    replicas.sum([places, cosines]);
    const numbers = (tensor: Tensor) => tensor.toArray() as Float64Array;
    return { places: numbers(places), cosines: numbers(cosines), count, neighbours };
  } finally {
    for (const tensor of [unit, places, cosines]) tensor.free();
  }
}

/** Cosines of some points with all, their own out of reach. [some, N] */
function othersOf(unit: Tensor, first: number, some: number): Tensor {
  const selves = arange(some).add(first).unsqueeze(1);
  return call('scatter.value', unit.narrow(0, first, some).matmul(unit.transpose(0, 1)), 1, selves, -2);
}

/** Links both ways with the weight cos², each once, row by row. */
function graphOf({ places, cosines, count, neighbours }: NearestTexts): TextGraph {
  const ends = new Int32Array(count + 1);
  for (const [at, to] of places.entries()) {
    ends[Math.floor(at / neighbours) + 1]!++;
    ends[to + 1]!++;
  }
  for (let row = 0; row < count; row++) ends[row + 1]! += ends[row]!;
  const [targets, weights] = [new Int32Array(2 * places.length), new Float64Array(2 * places.length)];
  const filled = ends.slice(0, count);
  const link = (from: number, to: number, weight: number) => {
    const at = filled[from]!++;
    targets[at] = to;
    weights[at] = weight;
  };
  for (const [at, to] of places.entries()) {
    const [from, cosine] = [Math.floor(at / neighbours), Math.max(0, cosines[at]!)];
    link(from, to, cosine * cosine);
    link(to, from, cosine * cosine);
  }
  return scaledRows(ends, targets, weights);
}

/** Rows of links, of which some come twice, each once with the larger weight; weights of a row then sum to 1. */
function scaledRows(ends: Int32Array, targets: Int32Array, weights: Float64Array): TextGraph {
  const count = ends.length - 1;
  const graph = {
    offsets: new Int32Array(count),
    targets: new Int32Array(targets.length),
    weights: new Float32Array(targets.length),
  };
  let at = 0;
  const own = new Map<number, number>();
  for (let row = 0; row < count; row++) {
    graph.offsets[row] = at;
    own.clear();
    for (let link = ends[row]!; link < ends[row + 1]!; link++)
      own.set(targets[link]!, Math.max(own.get(targets[link]!) ?? 0, weights[link]!));
    const total = [...own.values()].reduce((sum, weight) => sum + weight, 0);
    for (const [to, weight] of [...own].sort(([a], [b]) => a - b)) {
      graph.targets[at] = to;
      graph.weights[at++] = total > 0 ? weight / total : 0;
    }
  }
  return { ...graph, targets: graph.targets.slice(0, at), weights: graph.weights.slice(0, at) };
}
