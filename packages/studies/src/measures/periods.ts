import { UserError } from '@hidden-schema/base';
import { PERIODS, type PeriodLength } from './period-lengths.ts';

export interface Period {
  /** As people write it: 1860s, 1861, 1861-03, 1861-03-04. */
  label: string;
  /** UTC milliseconds; the end is the next period's start. */
  start: number;
  end: number;
}

const DAY = 86_400_000;
/** Years of those lengths that are counted in years, months of the others. */
const years: Partial<Record<PeriodLength, number>> = {
  year: 1,
  lustrum: 5,
  decade: 10,
  'quarter century': 25,
  century: 100,
};
const months: Partial<Record<PeriodLength, number>> = { month: 1, quarter: 3 };

/** Number of the period that a time lies in, counted from the year 0 or the epoch. */
function placeOf(time: number, length: PeriodLength): number {
  const date = new Date(time);
  const inYears = years[length];
  if (inYears) return Math.floor(date.getUTCFullYear() / inYears);
  const inMonths = months[length];
  if (inMonths) return Math.floor((12 * date.getUTCFullYear() + date.getUTCMonth()) / inMonths);
  // The epoch was a Thursday; weeks begin on Mondays.
  return length === 'day' ? Math.floor(time / DAY) : Math.floor((time / DAY + 3) / 7);
}

/** UTC milliseconds of the first of a month; `Date.UTC` would take the years 0 to 99 for those of the last century. */
function startOfMonth(year: number, month: number): number {
  return new Date(0).setUTCFullYear(year, month, 1);
}

function startOf(place: number, length: PeriodLength): number {
  const inYears = years[length];
  if (inYears) return startOfMonth(place * inYears, 0);
  const inMonths = months[length];
  if (inMonths)
    return startOfMonth(Math.floor((place * inMonths) / 12), (((place * inMonths) % 12) + 12) % 12);
  return length === 'day' ? place * DAY : (7 * place - 3) * DAY;
}

function labelOf(start: number, length: PeriodLength): string {
  const [year, month, day] = new Date(start).toISOString().slice(0, 10).split('-') as [
    string,
    string,
    string,
  ];
  const plain = String(Number(year));
  if (length === 'year') return plain;
  if (length === 'decade') return `${plain}s`;
  if (length in years) return `${plain}–${Number(plain) + years[length]! - 1}`;
  if (length === 'month') return `${year}-${month}`;
  return length === 'quarter' ? `${year} Q${(Number(month) + 2) / 3}` : `${year}-${month}-${day}`;
}

/** Periods that a chart can show, and texts that one should have for a share to say something. */
const mostPeriods = 40;
const fewestTexts = 30;

/** All periods from the first time to the last, and which of them each time lies in; −1 for NaN. */
export function periodsOf(
  times: ArrayLike<number>,
  asked?: PeriodLength,
): { length: PeriodLength; periods: Period[]; periodOf: Int32Array } {
  const known = Array.from(times).filter((time) => !Number.isNaN(time));
  if (known.length === 0) throw new UserError('no text has a date, so there is nothing to show over time');
  const first = known.reduce((a, b) => Math.min(a, b));
  const last = known.reduce((a, b) => Math.max(a, b));
  const count = (length: PeriodLength) => placeOf(last, length) - placeOf(first, length) + 1;
  const length =
    asked ??
    PERIODS.find((one) => count(one) <= mostPeriods && known.length >= fewestTexts * count(one)) ??
    longest(count);
  if (count(length) > 2000)
    throw new UserError(
      `there are ${count(length)} periods of a ${length} between the first date and the last; choose a longer one with --period`,
    );
  const base = placeOf(first, length);
  const periods = Array.from({ length: count(length) }, (_, at) => {
    const start = startOf(base + at, length);
    return { label: labelOf(start, length), start, end: startOf(base + at + 1, length) };
  });
  const periodOf = Int32Array.from(times, (time) => (Number.isNaN(time) ? -1 : placeOf(time, length) - base));
  return { length, periods, periodOf };
}

/** Where even the fewest periods have few texts: the shortest length that gives two, or else whatever there is. */
const longest = (count: (length: PeriodLength) => number): PeriodLength =>
  PERIODS.toReversed().find((one) => count(one) > 1) ?? 'day';
