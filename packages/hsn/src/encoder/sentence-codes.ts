import { cat, eye, type Generator, randperm, scope, Tensor, withoutGrad, zeros } from '@hidden-schema/torch';
import { memberSums, nearestCentre, unmoved } from '../clusters.ts';

// Shapes: N sentences, D width, K symbols, L walk steps.

const iterations = 20;

/** Sentences as walks on a graph of their own. */
export interface SentenceCodes {
  /** [N, L] int64 */
  walks: Tensor;
  /** Symmetric, of 0 and 1. [K, K] */
  adjacency: Tensor;
}

export interface CodeOptions {
  symbols: number;
  length: number;
  /** Share of all pairs of symbols that are linked. */
  density: number;
  selfLoops: boolean;
}

/** Lloyd's k-means from points drawn at random; a centre that loses all its points stays where it is. [K, D] */
export function kMeans(points: Tensor, count: number, generator: Generator): Tensor {
  const N = points.dim(0);
  // Fewer points than centres: some start at the same place.
  const drawn = Array.from({ length: Math.ceil(count / N) }, () => randperm(N, generator));
  let centres = points.indexSelect(0, cat(drawn, 0).narrow(0, 0, count));
  for (let i = 0; i < iterations; i++) {
    const before = centres;
    centres = scope(() => {
      const { sums, sizes } = memberSums(points, nearestCentre(points, before), count);
      return sums.div(sizes.clamp(1)).add(unmoved(before, sizes));
    });
  }
  return centres;
}

/**
 * Sentence vectors as walks: k-means with K centres, then again on what the centre leaves over, L times (residual
 * quantisation), so that the first symbol says most. The most travelled pairs become the graph's links, and each
 * sentence is written again with steps along links alone.
 */
export function sentenceCodes(vectors: Tensor, options: CodeOptions, generator: Generator): SentenceCodes {
  const { symbols, length } = options;
  return withoutGrad(() => {
    const levels: Tensor[] = [];
    const free = quantised(vectors, length, (rest) => {
      levels.push(kMeans(rest, symbols, generator));
      return { centres: levels.at(-1)! };
    });
    const adjacency = mostTravelled(free, options);
    const walks = quantised(vectors, length, (_, level, before) => ({
      centres: levels[level]!,
      ...(before ? { allowed: adjacency.indexSelect(0, before) } : {}),
    }));
    return { walks, adjacency };
  });
}

/** Sentence vectors as residual codes of L symbols, on no graph. [N, D] → [N, L] int64 */
export function residualCodes(
  vectors: Tensor,
  { symbols, length }: Pick<CodeOptions, 'symbols' | 'length'>,
  generator: Generator,
): Tensor {
  return withoutGrad(() =>
    quantised(vectors, length, (rest) => ({ centres: kMeans(rest, symbols, generator) })),
  );
}

/** Level by level, the nearest centre of what is left over. [N, L] */
function quantised(
  vectors: Tensor,
  length: number,
  at: (rest: Tensor, level: number, before?: Tensor) => { centres: Tensor; allowed?: Tensor },
): Tensor {
  let rest = vectors;
  const codes: Tensor[] = [];
  for (let level = 0; level < length; level++) {
    const { centres, allowed } = at(rest, level, codes.at(-1));
    const nearest = nearestCentre(rest, centres, allowed);
    codes.push(nearest);
    rest = rest.sub(centres.indexSelect(0, nearest));
  }
  return cat(
    codes.map((code) => code.unsqueeze(1)),
    1,
  );
}

/** The pairs that walks travel most, as many as the density asks for; every symbol keeps its best one. [K, K] */
export function mostTravelled(walks: Tensor, { symbols: K, density, selfLoops }: CodeOptions): Tensor {
  const steps = walks.unbind(1);
  let counts = zeros([K, K]);
  for (let i = 1; i < steps.length; i++) {
    const [from, to] = [steps[i - 1]!, steps[i]!].map((step) => step.oneHot(K).to('float32'));
    counts = counts.add(from!.transpose(0, 1).matmul(to!));
  }
  const both = counts.add(counts.transpose(0, 1));
  const off = eye(K).neg().add(1);
  const travelled = (selfLoops ? both : both.mul(off)).toNumbers();
  const places = Array.from(travelled, (_, place) => place)
    .filter((place) => selfLoops || place % K !== Math.floor(place / K))
    .sort((a, b) => travelled[b]! - travelled[a]! || a - b);
  const wanted = Math.max(1, Math.round(places.length * density));
  const linked = new Float32Array(K * K);
  const link = (place: number) => {
    linked[place] = 1;
    linked[(place % K) * K + Math.floor(place / K)] = 1;
  };
  for (const place of places.slice(0, wanted)) link(place);
  for (let symbol = 0; symbol < K; symbol++) {
    if (linked.subarray(symbol * K, (symbol + 1) * K).includes(1)) continue;
    const best = places.find((place) => Math.floor(place / K) === symbol);
    if (best !== undefined) link(best);
  }
  return Tensor.fromArray(linked, [K, K]);
}
