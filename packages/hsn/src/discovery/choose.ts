import { call, Generator, randperm, scope, Tensor, withoutGrad } from '@hidden-schema/torch';
import { mostAligned } from '../clusters.ts';
import { Replicas } from '../train/replicas.ts';
import { drawnPlaces, type PointSource, pointsAt } from './point-source.ts';
import { sphericalMeans } from './spherical-means.ts';

// Shapes: n points that are looked at, S their width, K centres.

/** What is known of one number of symbols. */
export interface TriedCount {
  symbols: number;
  /** Mean silhouette of the points when they fall into so many clusters. */
  silhouette: number;
  /** Adjusted Rand index of the clusters found in one half of the points and in the other, in the mean. */
  stability: number;
  /** Their product, what decides. */
  score: number;
}

/** How many symbols texts ask for, and the curve that says so. */
export interface SymbolChoice {
  symbols: number;
  curve: readonly TriedCount[];
}

export interface ChoiceOptions {
  seed: number;
  /** Symbols at the least. */
  fewest: number;
  /** The processes that hold the points together; rank 0 chooses for all. */
  replicas?: Replicas;
}

/** Points that are looked at: their inner products are held at once. */
const looked = 2000;
/** Steps between the counts that are tried grow with them, by this part. */
const growth = 1 / 6;
const most = 50;
/** A cluster has at least so many of the points that are looked at. */
const fewestPoints = 10;
/** Times that points are halved. */
const halvings = 4;
const clustering = { rounds: 15, starts: 4, seedingPoints: looked };
const halfClustering = { ...clustering, starts: 2 };

/**
 * As many symbols as make clusters of texts both apart and found again: the largest product of the mean silhouette
 * (Rousseeuw 1987) and of the agreement of clusters found in two halves of the texts.
 */
export function chooseSymbols(
  points: PointSource,
  { seed, fewest, replicas = Replicas.alone }: ChoiceOptions,
): SymbolChoice {
  return withoutGrad(() => {
    const generator = new Generator(seed);
    const places = drawnPlaces(points.count, Math.min(points.count, looked), generator);
    const some = pointsAt(points, places, replicas);
    return replicas.tell(replicas.leads ? chosenAmong(some, fewest, generator) : undefined);
  });
}

function chosenAmong(some: Tensor, fewest: number, generator: Generator): SymbolChoice {
  const products = some.matmul(some.transpose(0, 1));
  const curve = triedCounts(fewest, some.dim(0)).map((symbols) =>
    scope(() => {
      const centres = sphericalMeans(some, { ...clustering, count: symbols }, generator);
      const clusters = mostAligned(some, centres).toNumbers();
      const silhouette = meanSilhouette(products, clusters, symbols);
      const stability = halfStability(some, symbols, generator);
      return { symbols, silhouette, stability, score: silhouette * stability };
    }),
  );
  const best = curve.reduce((top, one) => (one.score > top.score ? one : top));
  return { symbols: best.symbols, curve };
}

/** How far centres of one half of the points part all of them as those of the other half do. */
function halfStability(points: Tensor, count: number, generator: Generator): number {
  const n = points.dim(0);
  const half = Math.floor(n / 2);
  const agreements = Array.from({ length: halvings }, () =>
    scope(() => {
      const order = randperm(n, generator);
      const [one, other] = [order.narrow(0, 0, half), order.narrow(0, half, n - half)].map((rows) => {
        const centres = sphericalMeans(points.indexSelect(0, rows), { ...halfClustering, count }, generator);
        return mostAligned(points, centres).toNumbers();
      });
      return adjustedRand(one!, other!);
    }),
  );
  return agreements.reduce((sum, agreement) => sum + agreement, 0) / halvings;
}

/** Hubert and Arabie's: 1 for the same partition, 0 in the mean for partitions by chance. */
export function adjustedRand(one: readonly number[], other: readonly number[]): number {
  const counted = (keys: Iterable<string | number>) => {
    const counts = new Map<string | number, number>();
    for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
    return [...counts.values()].reduce((sum, count) => sum + (count * (count - 1)) / 2, 0);
  };
  const both = counted(one.map((cluster, n) => `${cluster} ${other[n]}`));
  const [first, second] = [counted(one), counted(other)];
  const expected = (first * second) / ((one.length * (one.length - 1)) / 2);
  const largest = (first + second) / 2;
  return largest === expected ? 1 : (both - expected) / (largest - expected);
}

/** From `fewest` on, ever further apart. */
function triedCounts(fewest: number, points: number): number[] {
  const first = Math.max(2, fewest);
  const last = Math.max(first, Math.min(most, Math.floor(points / fewestPoints)));
  const counts: number[] = [];
  for (let count = first; count <= last; count += Math.max(1, Math.floor(count * growth))) counts.push(count);
  return counts;
}

/** Of points with inner products [n, n] in clusters by number; a point alone in its cluster counts 0. */
export function meanSilhouette(products: Tensor, clusters: readonly number[], count: number): number {
  const n = clusters.length;
  const sizes = new Float64Array(count);
  for (const cluster of clusters) sizes[cluster]!++;
  const members = Tensor.fromArray(Int32Array.from(clusters), [n]).to('int64').oneHot(count).to('float32');
  const sums = products.matmul(members).toArray() as Float32Array; // Σ x·y over each cluster [n, K]
  const selves = call('diag', products).toArray() as Float32Array;
  let total = 0;
  for (const [at, own] of clusters.entries()) {
    if (sizes[own]! < 2) continue;
    // The product of a point with itself is no distance to another.
    const a = 1 - (sums[at * count + own]! - selves[at]!) / (sizes[own]! - 1);
    let b = Number.POSITIVE_INFINITY;
    for (let c = 0; c < count; c++)
      if (c !== own && sizes[c]! > 0) b = Math.min(b, 1 - sums[at * count + c]! / sizes[c]!);
    if (Number.isFinite(b)) total += (b - a) / Math.max(a, b, 1e-12);
  }
  return total / n;
}
