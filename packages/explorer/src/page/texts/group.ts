import type { Graph, Labels } from '../client.ts';
import { titleIn } from '../labels.ts';
import { readState, type ViewState, writeState } from '../state.ts';
import { labelCounts } from './filter.ts';
import type { TextData } from './text-data.ts';
import { askedSymbols } from './use-texts.ts';

/** What an address may ask of texts, as a text of its own: a group that can be kept and compared. */
export function groupText(view: ViewState): string {
  const { label, words, around, since, until } = view;
  const asked = { label, words, around, since, until, only: askedSymbols(view) };
  return writeState({ ...readState(''), ...asked });
}

export const groupOfLabel = (label: string): string => writeState({ ...readState(''), label: [label] });

/** A group in words. */
export function groupName(text: string, graph: Pick<Graph, 'nodes'> | null): string {
  const { label, only, words, around, since, until } = readState(text);
  const year = (time: number) => new Date(time).getUTCFullYear();
  const parts = [
    ...label,
    ...only.map((symbol) => titleIn(graph, symbol)),
    ...(words.trim() === '' ? [] : [`“${words.trim()}”`]),
    ...(around.length > 5 ? ['drawn on the map'] : []),
    ...(since === null ? [] : [`from ${year(since)}`]),
    ...(until === null ? [] : [`before ${year(until)}`]),
  ];
  return parts.join(', ') || 'all texts';
}

export interface GroupPair {
  first: string;
  second: string;
}

/** Labels with fewer than this share of the largest one's texts are not compared unless they are chosen. */
const LEAST_SHARE = 0.3;

/**
 * Two groups to begin with: the two labels whose texts differ most, of those with many texts; without labels, the newer
 * and the older half of the texts. Empty where texts have neither.
 */
export function defaultGroups(data: TextData, labels: Labels | null): GroupPair {
  const counts = labelCounts(data, new Uint8Array(data.count).fill(1));
  const [one, other] = differentPair(data.labels, [...counts], labels);
  if (one !== undefined && other !== undefined)
    return { first: groupOfLabel(one), second: groupOfLabel(other) };
  const times = data.times?.filter((time) => !Number.isNaN(time)).sort() ?? new Float64Array();
  const middle = times[times.length >> 1];
  if (middle === undefined || times[0] === middle) return { first: '', second: '' };
  const between = (asked: { since: number } | { until: number }) =>
    writeState({ ...readState(''), ...asked });
  return { first: between({ since: middle }), second: between({ until: middle }) };
}

/** The two of these labels whose texts differ most, of those with many; none where there are no two. */
export function differentPair(
  of: readonly string[],
  counts: readonly number[],
  labels: Labels | null,
): string[] {
  const most = Math.max(1, ...counts);
  const large = of
    .map((label, at) => ({ label, count: counts[at]! }))
    .filter(({ count }) => count >= LEAST_SHARE * most)
    .sort((a, b) => b.count - a.count)
    .map(({ label }) => label);
  const places = large.map((label) => labels?.maps.findIndex((map) => map.label === label) ?? -1);
  const apart = (a: number, b: number) => labels?.divergence[places[a]!]?.[places[b]!] ?? 0;
  let best: [number, number] = [0, 1];
  for (let a = 0; a < large.length; a++)
    for (let b = a + 1; b < large.length; b++) if (apart(a, b) > apart(...best)) best = [a, b];
  return large.length < 2 ? [] : best.map((at) => large[at]!);
}
