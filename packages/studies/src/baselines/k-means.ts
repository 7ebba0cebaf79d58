import { Random } from '@hidden-schema/base';
import { cat, noGrad, scope, Tensor } from '@hidden-schema/torch';
import { symbolWords } from '../measures/c-tf-idf.ts';
import type { DocumentTerms } from '../measures/document-terms.ts';
import { oneSymbolEach } from '../measures/symbol-uses.ts';
import { drawnCentres } from './k-means-start.ts';
import type { TopicModel } from './topic-model.ts';

// Shapes: N points, D width, K clusters.

export interface KMeansOptions {
  clusters: number;
  seed: number;
  /** The best of so many starts is taken. */
  restarts?: number;
  iterations?: number;
  /** Ends when centres move by less, as a share of the points' variance. */
  tolerance?: number;
}

export interface KMeansFit {
  /** [K, D] */
  readonly centres: Float32Array;
  /** [N] */
  readonly clusters: Int32Array;
  /** Σ of squared distances to the nearest centre. */
  readonly inertia: number;
}

/** Points compared with the centres at a time. */
const chunk = 16384;

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

/** Clusters of vectors with the words of their texts by c-TF-IDF: BERTopic without UMAP and HDBSCAN. */
export function kMeansTopics(points: Tensor, matrix: DocumentTerms, options: KMeansOptions): TopicModel {
  const { clusters } = fitKMeans(points, options);
  const ranked = symbolWords(matrix, oneSymbolEach(clusters), { symbols: options.clusters });
  return { clusters, words: ranked.map((list) => list.map(({ word }) => word)) };
}

function fitOnce(points: Tensor, options: KMeansOptions, random: Random): KMeansFit {
  const { clusters: K, iterations = 300, tolerance = 1e-4 } = options;
  const enough = tolerance * meanVariance(points);
  let centres = drawnCentres(points, K, random);
  for (let i = 0; i < iterations; i++) {
    const before = centres;
    const { moved, next } = scope(() => {
      const means = meansOfMembers(points, nearest(points, before), K, before);
      const change = means.sub(before);
      return { next: means, moved: change.mul(change).sum().item() };
    });
    before.free();
    centres = next;
    if (moved <= enough) break;
  }
  const { clusters, squared } = nearest(points, centres);
  return {
    centres: centres.toArray() as Float32Array,
    clusters: Int32Array.from(clusters.toNumbers()),
    inertia: squared.to('float64').sum().item(),
  };
}

function meanVariance(points: Tensor): number {
  const apart = points.sub(points.mean(0));
  return apart.mul(apart).mean().item();
}

interface Nearest {
  /** [N] int64 */
  clusters: Tensor;
  /** Squared distance to the nearest centre. [N] */
  squared: Tensor;
}

function nearest(points: Tensor, centres: Tensor): Nearest {
  const turned = centres.transpose(0, 1);
  const norms = centres.mul(centres).sum(1);
  const parts: Nearest[] = [];
  for (let first = 0; first < points.dim(0); first += chunk)
    parts.push(
      scope(() => {
        const some = points.narrow(0, first, Math.min(chunk, points.dim(0) - first));
        const clusters = some.matmul(turned).mul(-2).add(norms).neg().argmax(1);
        // From the difference itself: the expanded square loses the digits of near points.
        const apart = some.sub(centres.indexSelect(0, clusters));
        return { clusters, squared: apart.mul(apart).sum(1) };
      }),
    );
  return {
    clusters: cat(parts.map((part) => part.clusters)),
    squared: cat(parts.map((part) => part.squared)),
  };
}

/** Means of members; a centre that has lost all moves to one of the points farthest from theirs. [K, D] */
function meansOfMembers(points: Tensor, { clusters, squared }: Nearest, K: number, before: Tensor): Tensor {
  const members = clusters.oneHot(K).to(points.dtype); // [N, K]
  const sizes = members.sum(0);
  const means = members.transpose(0, 1).matmul(points).div(sizes.clamp(1).unsqueeze(1));
  const empty = sizes.toNumbers().flatMap((size, k) => (size === 0 ? [k] : []));
  if (empty.length === 0) return means;
  const count = Math.min(empty.length, points.dim(0));
  const far = squared.topk(count, 0).indices;
  const places = Array.from({ length: K }, (_, k) => k);
  for (const [at, k] of empty.entries()) places[k] = at < count ? 2 * K + at : K + k;
  const all = cat([means, before, points.indexSelect(0, far)]);
  return all.indexSelect(0, Tensor.fromArray(BigInt64Array.from(places, BigInt), [K]));
}
