import { UserError } from '@hidden-schema/base';

/** A date as it is written in a table, and where that is. */
export interface WrittenDate {
  value: string | undefined;
  where: string;
}

const monthNames = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const monthName = '([a-z]{3,9})\\.?';
const clock = '(?:[t ]\\d{1,2}:\\d{2}(?::\\d{2}(?:[.,]\\d+)?)?\\s*(?:z|utc|gmt|[+-]\\d{2}:?\\d{2})?)?';

type Parts = readonly [year: number, month: number, day: number];
const numbers = (found: RegExpExecArray): number[] => found.slice(1).map(Number);

/** Forms of a date, each with how its parts are read; a month is 1 to 12, and a missing one 1. */
const forms: readonly (readonly [RegExp, (found: RegExpExecArray) => Parts])[] = [
  [/^(\d{3,4})$/, (found) => [Number(found[1]), 1, 1]],
  [/^(\d{3,4})s$/, (found) => [Number(found[1]), 1, 1]],
  [/^(\d{4})[-/.](\d{1,2})$/, (found) => [...numbers(found), 1] as unknown as Parts],
  [/^(\d{4})[- ]?q([1-4])$/, (found) => [Number(found[1]), 3 * Number(found[2]) - 2, 1]],
  [
    new RegExp(`^(\\d{4})[-/.](\\d{1,2})[-/.](\\d{1,2})${clock}$`),
    (found) => numbers(found) as unknown as Parts,
  ],
  [/^(\d{4})(\d{2})(\d{2})$/, (found) => numbers(found) as unknown as Parts],
  [
    new RegExp(`^(\\d{1,2})\\.\\s?(\\d{1,2})\\.\\s?(\\d{4})${clock}$`),
    (found) => numbers(found).reverse() as unknown as Parts,
  ],
  [
    new RegExp(`^(\\d{1,2})(?:st|nd|rd|th)?[ -]${monthName},?[ -](\\d{4})$`),
    (found) => [Number(found[3]), monthOf(found[2]!), Number(found[1])],
  ],
  [
    new RegExp(`^${monthName} (\\d{1,2})(?:st|nd|rd|th)?,? (\\d{4})$`),
    (found) => [Number(found[3]), monthOf(found[1]!), Number(found[2])],
  ],
  [new RegExp(`^${monthName},?[ -](\\d{4})$`), (found) => [Number(found[2]), monthOf(found[1]!), 1]],
];
const slashed = new RegExp(`^(\\d{1,2})/(\\d{1,2})/(\\d{4})${clock}$`);
/** Seconds or milliseconds since 1970. */
const epoch = /^\d{9,10}$|^\d{12,13}$/;

const monthOf = (name: string): number => monthNames.indexOf(name.slice(0, 3)) + 1;

/** UTC milliseconds of a day; NaN where the calendar has none. `Date.UTC` would move the years 0 to 99. */
function dayTime([year, month, day]: Parts): number {
  const date = new Date(new Date(0).setUTCFullYear(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() : Number.NaN;
}

/** The time of a written date, by the day; NaN where it is none. Day and month between slashes are the caller's matter. */
function timeOf(text: string): number {
  if (epoch.test(text)) return Number(text) * (text.length <= 10 ? 1000 : 1);
  for (const [form, parts] of forms) {
    const found = form.exec(text);
    if (found) return dayTime(parts(found));
  }
  return Number.NaN;
}

/** Whether a cell is a date with a year of four digits; numbers of fewer digits may be anything. */
export function isDate(cell: string): boolean {
  const text = cell.trim().toLowerCase();
  if (/^\d+$/.test(text) && !/^(?:1[5-9]|20)\d\d(?:\d{4})?$/.test(text)) return false;
  return slashed.test(text) || !Number.isNaN(timeOf(text));
}

const known =
  'a year (1861), a decade (1860s), 1861-03, 1861-03-04 with or without a time, 4.3.1861, 3/4/1861, 4 March 1861, March 1861, 1861-Q1 or seconds since 1970';

/**
 * Dates of a column as UTC milliseconds of their days, NaN where a cell is empty. Whether 3/4/1861 is in March or April
 * the whole column decides.
 */
export function parseDates(written: Iterable<WrittenDate>): Float64Array {
  const cells = Array.from(written, ({ value = '', where }) => ({ value, text: value.toLowerCase(), where }));
  const dayFirst = slashOrder(cells);
  return Float64Array.from(cells, ({ value, text, where }) => {
    if (text === '') return Number.NaN;
    const between = slashed.exec(text);
    const [first, second, year] = between ? (numbers(between) as [number, number, number]) : [0, 0, 0];
    const time = between ? dayTime(dayFirst ? [year, second, first] : [year, first, second]) : timeOf(text);
    if (!Number.isNaN(time)) return time;
    throw new UserError(`${where} has ${JSON.stringify(value.slice(0, 40))} as its date; expected ${known}`);
  });
}

/** Whether days come before months between slashes. */
function slashOrder(cells: readonly { text: string; where: string }[]): boolean {
  let [dayFirst, monthFirst]: (string | undefined)[] = [];
  let any: string | undefined;
  for (const { text, where } of cells) {
    const found = slashed.exec(text);
    if (!found) continue;
    const [first, second] = [Number(found[1]), Number(found[2])];
    // Neither way a date: refused by itself later.
    if (first > 12 && second > 12) continue;
    any ??= `${where} has ${text}`;
    if (first > 12) dayFirst ??= `${where} has ${text}`;
    if (second > 12) monthFirst ??= `${where} has ${text}`;
  }
  if (dayFirst && monthFirst)
    throw new UserError(
      `${dayFirst} with the day first, and ${monthFirst} with the month first; write dates one way, such as 1861-03-04`,
    );
  if (any && !dayFirst && !monthFirst)
    throw new UserError(
      `${any} as its date, and no other date tells whether its day or its month comes first; write dates as 1861-03-04`,
    );
  return dayFirst !== undefined;
}
