import { adjustedMutualInformation } from './agreement.ts';
import type { Labelling } from './contingency.ts';

/**
 * How much the same division comes out of each run, as of first symbols under several seeds: for each run the mean AMI
 * with the others; 1 is the same division, 0 is chance. One run alone has nothing to agree with: null.
 */
export function stability(runs: readonly Labelling[]): (number | null)[] {
  const between = runs.map((run, at) =>
    runs.slice(at + 1).map((other) => adjustedMutualInformation(run, other)),
  );
  return runs.map((_, at) => {
    const others = runs.flatMap((_, other) =>
      other === at ? [] : between[Math.min(at, other)]![Math.abs(at - other) - 1]!,
    );
    return others.length === 0 ? null : others.reduce((sum, ami) => sum + ami, 0) / others.length;
  });
}
