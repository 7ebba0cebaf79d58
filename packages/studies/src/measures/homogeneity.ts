import { type Counted, shareOf } from './proportions.ts';
import { upperGamma } from './upper-gamma.ts';

/** Pearson's test that a share is the same in all groups that have any items: χ² with one degree less than groups. */
export function homogeneityTest(groups: readonly Counted[]): number {
  const filled = groups.filter(({ total }) => total > 0);
  const share = shareOf({
    count: filled.reduce((sum, { count }) => sum + count, 0),
    total: filled.reduce((sum, { total }) => sum + total, 0),
  });
  if (share === 0 || share === 1 || filled.length < 2) return 1;
  const statistic = filled.reduce(
    (sum, { count, total }) => sum + (count - total * share) ** 2 / (total * share * (1 - share)),
    0,
  );
  return upperGamma((filled.length - 1) / 2, statistic / 2);
}
