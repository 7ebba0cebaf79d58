import { compareGroups } from '@hidden-schema/studies/measures/groups';
import { PERIODS } from '@hidden-schema/studies/measures/period-lengths';
import { studyTime } from '@hidden-schema/studies/measures/time';
import type { EncodedCorpus } from '@hidden-schema/studies/texts/encoded';
import type { Answer, Input } from '../shared/api.ts';
import { Fault } from './fault.ts';

/** Rows of a table that are sent. */
const MOST_ROWS = 200;
const SURE = 0.05;

/** Two groups of texts beside each other; what is in both is in neither. */
export function compareAnswer(
  step: number,
  encoded: EncodedCorpus,
  { first, second }: Pick<Input<'compare'>, 'first' | 'second'>,
): Answer<'compare'> {
  const { walks, symbols: K, length, count } = encoded;
  const own = bitsOf(first, count);
  const others = second ? bitsOf(second, count) : own.map((bit) => 1 - bit);
  const labelOf = Int16Array.from(own, (bit, n) => (bit === others[n] ? -1 : bit === 1 ? 0 : 1));
  const both = own.reduce((sum, bit, n) => sum + (bit & others[n]!), 0);
  const names = namesOf(first.name, second?.name ?? 'all other texts');
  const { groups, interval, test, correction, symbols, links } = compareGroups(
    { walks, symbols: K, length, labels: names, labelOf },
    { pair: names },
  );
  const sure = (rows: readonly { corrected: number }[]) =>
    rows.filter(({ corrected }) => corrected < SURE).length;
  return {
    ...{ step, groups, both, interval, test, correction },
    tests: { symbols: symbols.length, links: links.length },
    sure: { symbols: sure(symbols), links: sure(links) },
    symbols: largest(symbols).map(({ group: _, ...one }) => one),
    links: largest(links).map(({ group: _, ...one }) => one),
  };
}

/** Two groups of one name are told apart. */
const namesOf = (first: string, second: string): [string, string] =>
  first === second ? [`${first} (1)`, `${second} (2)`] : [first, second];

function bitsOf({ name, texts }: Input<'compare'>['first'], count: number): Uint8Array {
  const bytes = Buffer.from(texts, 'base64');
  if (bytes.length !== Math.ceil(count / 8)) {
    const message = `the group “${name}” has ${bytes.length} bytes; ${count} texts are ${Math.ceil(count / 8)}`;
    throw new Fault(400, 'bad_request', message);
  }
  return Uint8Array.from({ length: count }, (_, n) => (bytes[n >> 3]! >> (n & 7)) & 1);
}

type Row = Pick<Answer<'compare'>['symbols'][number], 'effect' | 'corrected'>;

/** Findings first, and of these the largest. */
const largest = <T extends Row>(rows: readonly T[]): T[] =>
  rows
    .toSorted(
      (a, b) =>
        Number(b.corrected < SURE) - Number(a.corrected < SURE) || Math.abs(b.effect) - Math.abs(a.effect),
    )
    .slice(0, MOST_ROWS);

/** Shares over time of walks with their times. */
export function timeAnswer(
  step: number,
  { encoded, column, times }: { encoded: EncodedCorpus; column: string; times: Float64Array },
  asked: Input<'time'>['period'],
): Answer<'time'> {
  const { walks, symbols: K, length } = encoded;
  const period = PERIODS.find((one) => one === asked);
  if (asked !== undefined && !period)
    throw new Fault(400, 'bad_request', `period: expected one of ${PERIODS.join(', ')}, got ${asked}`);
  const { symbols, links, ...study } = studyTime(
    { walks, symbols: K, length, times },
    period ? { period } : {},
  );
  return {
    ...{ ...study, step, column, lengths: [...PERIODS] },
    symbols: symbols.map(({ p: _, ...one }) => one),
    links: links.slice(0, MOST_ROWS).map(({ p: _, ...one }) => one),
  };
}
