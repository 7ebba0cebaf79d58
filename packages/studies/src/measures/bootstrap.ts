import { Random } from '@hidden-schema/base';

/** A mean difference with the middle 95 % of what resampled pairs give. */
export interface PairedDifference {
  difference: number;
  low: number;
  high: number;
}

/** The paired bootstrap (percentiles): which of two models' scores of the same things is higher, and how surely. */
export function pairedDifference(
  ours: readonly number[],
  theirs: readonly number[],
  { draws = 1000, seed = 1 } = {},
): PairedDifference {
  if (ours.length !== theirs.length || ours.length === 0)
    throw new RangeError(`pairs of scores were expected, got ${ours.length} and ${theirs.length}`);
  const gains = Float64Array.from(ours, (score, i) => score - theirs[i]!);
  const random = new Random(seed);
  const count = gains.length;
  const means = Float64Array.from({ length: draws }, () => {
    let sum = 0;
    for (let i = 0; i < count; i++) sum += gains[random.int(count)]!;
    return sum / count;
  }).sort();
  const at = (share: number) => means[Math.min(draws - 1, Math.floor(share * draws))]!;
  return {
    difference: gains.reduce((sum, gain) => sum + gain, 0) / count,
    low: at(0.025),
    high: at(0.975),
  };
}
