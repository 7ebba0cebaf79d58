import { readState, writeState } from '../state.ts';
import { labelCounts } from './filter.ts';
import { groupOfLabel } from './group.ts';
import type { TextData } from './text-data.ts';

export interface GroupPair {
  first: string;
  second: string;
}

/**
 * Two groups to begin with: the two labels with most texts; without labels, the newer and the older half of the texts.
 * Empty where texts have neither.
 */
export function defaultGroups(data: TextData): GroupPair {
  const counts = labelCounts(data, new Uint8Array(data.count).fill(1));
  const [one, other] = data.labels
    .map((label, at) => ({ label, count: counts[at]! }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count);
  if (one && other) return { first: groupOfLabel(one.label), second: groupOfLabel(other.label) };
  const times = data.times?.filter((time) => !Number.isNaN(time)).sort() ?? new Float64Array();
  const middle = times[times.length >> 1];
  if (middle === undefined || times[0] === middle) return { first: '', second: '' };
  const between = (asked: { since: number } | { until: number }) =>
    writeState({ ...readState(''), ...asked });
  return { first: between({ since: middle }), second: between({ until: middle }) };
}
