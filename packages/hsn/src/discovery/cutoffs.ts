import { arange, call, full, Tensor, withoutGrad, zeros } from '@hidden-schema/torch';
import type { Replicas } from '../train/replicas.ts';
import { mostAtOnce, type PointSource, padRows, visitBlocks } from './point-source.ts';

// Shapes: N points, S their width, K symbols.

/** Bins of cosines from −1 to 1, and of standard scores from 0 to `highestScore`: counts, which processes add exactly. */
export const cosineBins = 2048;
export const scoreBins = 1000;
const highestScore = 10;
/** A symbol that stands out less than this is never named, however many do. */
const leastScore = 1.5;
/** Standard deviations between the lower quartile and the median of a normal distribution. */
const quartile = 0.6744897501960817;
/** Standard deviations above its own mean at which a symbol stands out: the least, and the share of a normal distribution
 * that lies beyond, for each share of false symbols that is accepted. */
const leastDeviations = 1.75;
const farShare = 2;

/** Directions of symbols, and of the texts that begin with them. [K, S] each */
export interface ReadSymbols {
  symbols: Tensor;
  starts: Tensor;
}

/**
 * Cosines above which each symbol stands out for a text. The null of a symbol is its own distribution over texts, most of
 * which are not about it: a normal one with its median, and the deviation that its lower half has (Efron's empirical
 * null). One standard score decides for all: the smallest at which, of the symbols named beside the first, no more than
 * `falseDiscoveryRate` are expected to be false, (expected of the null) / (seen).
 *
 * Where texts are much alike (reviews of restaurants), that null is as wide as all there is and nothing is beyond it. So a
 * symbol also stands out that lies as far above its own mean as 2·`falseDiscoveryRate` of a normal distribution do, and at
 * least 1.75 standard deviations, which is 0.02. What is named by this rule alone has no bound on how much of it is false. [K]
 */
export function fitCutoffs(
  points: PointSource,
  { symbols, starts }: ReadSymbols,
  { falseDiscoveryRate, replicas }: { falseDiscoveryRate: number; replicas: Replicas },
): Tensor {
  return withoutGrad(() => {
    const { centres, deviations, far } = nullOf(points, symbols, {
      replicas,
      farDeviations: farDeviations(falseDiscoveryRate),
    });
    const seen = scoresBeside(points, { symbols, starts, centres, deviations }, replicas);
    const score = smallestScore(seen, points.count * (symbols.dim(0) - 1), falseDiscoveryRate);
    const beyond = score === undefined ? far : centres.add(deviations.mul(score)).minimum(far);
    return beyond.to('float32');
  });
}

/** This process's points block by block, all of one shape, as cosines with rows. [n, K] */
function eachBlock(points: PointSource, visit: (block: Tensor, padded: Tensor) => void): void {
  for (const _ of visitBlocks(points, mostAtOnce, (block) => visit(block, padRows(block, mostAtOnce))));
}

/** What is known of a symbol's cosines over all texts. [K] float64 each */
interface Null {
  /** Median, and the deviation by the lower quartile. */
  centres: Tensor;
  deviations: Tensor;
  /** So many standard deviations above the mean that a symbol stands out. */
  far: Tensor;
}

function nullOf(
  points: PointSource,
  symbols: Tensor,
  { replicas, farDeviations: deviations }: { replicas: Replicas; farDeviations: number },
): Null {
  const K = symbols.dim(0);
  const turned = symbols.transpose(0, 1);
  const rows = arange(K).unsqueeze(0).mul(cosineBins);
  const counts = zeros([K * cosineBins], { dtype: 'float64' });
  eachBlock(points, (block, padded) => {
    const cosines = padded.matmul(turned).narrow(0, 0, block.dim(0));
    const bins = cosines
      .add(1)
      .mul(cosineBins / 2)
      .clamp(0, cosineBins - 1)
      .to('int64');
    counts.add_(call('bincount', bins.add(rows).reshape(-1), null, K * cosineBins));
  });
  replicas.sum([counts]);
  const all = counts.toArray() as Float64Array;
  const bySymbol = (of: (counts: Float64Array) => number) =>
    Float64Array.from({ length: K }, (_, k) => of(all.subarray(k * cosineBins, (k + 1) * cosineBins)));
  const [middle, lower] = [0.5, 0.25].map((share) =>
    bySymbol((own) => quantile(own, share * points.count)),
  ) as [Float64Array, Float64Array];
  const list = (numbers: Float64Array) => Tensor.fromArray(numbers, [K]);
  return {
    centres: list(middle),
    deviations: list(middle.map((median, k) => (median - lower[k]!) / quartile)),
    far: list(bySymbol((own) => farCosine(own, deviations))),
  };
}

function farDeviations(falseDiscoveryRate: number): number {
  const below = Math.max(0.5, 1 - farShare * falseDiscoveryRate);
  const deviations = call('special_ndtri', full([1], below, { dtype: 'float64' })).item();
  return Math.max(leastDeviations, deviations);
}

/** Mean and standard deviations of counted cosines, each taken as its bin's upper end. */
function farCosine(counts: Float64Array, deviations: number): number {
  let [total, sum, squares] = [0, 0, 0];
  for (const [bin, count] of counts.entries()) {
    const cosine = ((bin + 1) * 2) / cosineBins - 1;
    total += count;
    sum += count * cosine;
    squares += count * cosine * cosine;
  }
  const mean = sum / total;
  return mean + deviations * Math.sqrt(Math.max(0, squares / total - mean * mean));
}

/** The cosine below which `wanted` of the counted lie, straight lines within bins. */
function quantile(counts: Float64Array, wanted: number): number {
  let below = 0;
  for (const [bin, count] of counts.entries()) {
    if (below + count >= wanted && count > 0) return ((bin + (wanted - below) / count) * 2) / cosineBins - 1;
    below += count;
  }
  return 1;
}

/** How many symbols beside each text's first have a standard score of each size. [scoreBins] */
function scoresBeside(
  points: PointSource,
  { symbols, starts, centres, deviations }: ReadSymbols & { centres: Tensor; deviations: Tensor },
  replicas: Replicas,
): Float64Array {
  const scale = deviations.to('float32').clamp(1e-6);
  const centre = centres.to('float32');
  const counts = zeros([scoreBins], { dtype: 'float64' });
  eachBlock(points, (block, padded) => {
    const own = (x: Tensor) => x.narrow(0, 0, block.dim(0));
    const first = own(padded.matmul(starts.transpose(0, 1)))
      .argmax(1)
      .unsqueeze(1);
    const scores = own(padded.matmul(symbols.transpose(0, 1)))
      .sub(centre)
      .div(scale);
    const others = call('scatter.value', scores, 1, first, -1).reshape(-1);
    const bins = others
      .mul(scoreBins / highestScore)
      .clamp(0, scoreBins - 1)
      .to('int64');
    counts.add_(call('bincount', bins, null, scoreBins));
  });
  replicas.sum([counts]);
  return counts.toArray() as Float64Array;
}

/** The smallest standard score whose expected share of false symbols is small enough; none where no score's is. */
function smallestScore(counts: Float64Array, pairs: number, rate: number): number | undefined {
  const scores = arange(scoreBins, { dtype: 'float64' }).mul(highestScore / scoreBins);
  const tails = call('erfc', scores.mul(Math.SQRT1_2)).mul(0.5).toNumbers(); // 1 − Φ
  let above = 0;
  let smallest: number | undefined;
  for (let bin = scoreBins - 1; bin > 0; bin--) {
    above += counts[bin]!;
    const score = (bin * highestScore) / scoreBins;
    if (score < leastScore) break;
    if (above > 0 && pairs * tails[bin]! <= rate * above) smallest = score;
  }
  return smallest;
}
