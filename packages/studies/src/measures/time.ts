import { type Burst, burstsOf } from './bursts.ts';
import { type GroupShare, groupShare } from './groups.ts';
import type { PeriodLength } from './period-lengths.ts';
import { type Period, periodsOf } from './periods.ts';
import { countPresence } from './presence.ts';
import { homogeneityTest, withCorrected } from './proportions.ts';

/** Walks of texts [N, L] with their times. */
export interface TimedWalks {
  walks: ArrayLike<number>;
  /** K and L. */
  symbols: number;
  length: number;
  /** UTC milliseconds of each text, NaN where it has none. [N] */
  times: ArrayLike<number>;
}

/** A burst with what it was: how often in it, and how often at other times. */
export interface NamedBurst extends Burst {
  /** Of the first and the last period. */
  label: string;
  inside: GroupShare;
  outside: GroupShare;
}

/** Nats by which bursts stand out, together. */
export const burstWeight = ({ bursts }: Pick<ShareOverTime, 'bursts'>): number =>
  bursts.reduce((sum, burst) => sum + burst.weight, 0);

/** The period in which the first burst begins; after all periods where there is none. */
export const firstBurst = ({ bursts, shares }: Pick<ShareOverTime, 'bursts' | 'shares'>): number =>
  bursts[0]?.from ?? shares.length;

/** A symbol or link over time. */
export interface ShareOverTime {
  all: GroupShare;
  /** One for each period. */
  shares: GroupShare[];
  bursts: NamedBurst[];
  /** χ² test that the share is the same in all periods, and that after Benjamini and Hochberg. */
  p: number;
  corrected: number;
}

/** Symbols and links over time, and by which methods that is told. */
export interface TimeStudy {
  period: PeriodLength;
  periods: (Period & { texts: number })[];
  /** Texts without a date. */
  undated: number;
  interval: string;
  test: string;
  burst: string;
  symbols: (ShareOverTime & { symbol: number })[];
  /** Links that at least so many texts take, most taken first. */
  links: (ShareOverTime & { link: readonly [i: number, j: number] })[];
}

export interface TimeOptions {
  /** By how many texts and years there are unless given. */
  period?: PeriodLength;
  /** Texts that must take a link for it to be told; 20 unless given. */
  leastTexts?: number;
}

const defaultLeast = 20;

/** Shares of texts on each symbol and link over time, with intervals and bursts. */
export function studyTime(
  { walks, symbols, length: L, times }: TimedWalks,
  options: TimeOptions = {},
): TimeStudy {
  const { leastTexts = defaultLeast } = options;
  const { length, periods, periodOf } = periodsOf(times, options.period);
  const presence = countPresence({ walks, symbols, length: L, groupOf: periodOf, groups: periods.length });
  const over = (counts: Int32Array) => overTime(counts, presence.texts, periods);
  const total = ({ all }: Pick<ShareOverTime, 'all'>) => all.count;
  const common = presence.links
    .map(({ link, counts }) => ({ link, ...over(counts) }))
    .filter((one) => total(one) >= leastTexts);
  return {
    period: length,
    periods: periods.map((period, at) => ({ ...period, texts: presence.texts[at]! })),
    undated: periodOf.reduce((sum, period) => sum + (period < 0 ? 1 : 0), 0),
    interval: 'Wilson, 95 %',
    test: 'Pearson χ² test of equal shares, Benjamini–Hochberg',
    burst: 'Kleinberg 2003, two states, twice the usual share, γ = 2',
    symbols: withCorrected(presence.symbols.map((counts, symbol) => ({ symbol, ...over(counts) }))),
    links: withCorrected(common).sort((a, b) => total(b) - total(a)),
  };
}

function overTime(counts: Int32Array, texts: Int32Array, periods: readonly Period[]) {
  const cells = Array.from(counts, (count, at) => ({ count, total: texts[at]! }));
  const sum = (from: number, to: number, of: Int32Array) => of.slice(from, to).reduce((a, b) => a + b, 0);
  const [count, all] = [sum(0, counts.length, counts), sum(0, texts.length, texts)];
  const bursts = burstsOf(cells).map((burst) => {
    const [own, among] = [sum(burst.from, burst.to + 1, counts), sum(burst.from, burst.to + 1, texts)];
    const [first, last] = [periods[burst.from]!.label, periods[burst.to]!.label];
    const label = first === last ? first : `${first} to ${last}`;
    return { ...burst, label, inside: groupShare(own, among), outside: groupShare(count - own, all - among) };
  });
  const shares = cells.map(({ count: own, total }) => groupShare(own, total));
  return { all: groupShare(count, all), shares, bursts, p: homogeneityTest(cells) };
}
