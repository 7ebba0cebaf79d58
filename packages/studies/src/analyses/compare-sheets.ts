import { forestFigure } from '../drawing/forest-figure.ts';
import type { Sheet, SheetCell } from '../drawing/sheets.ts';
import type { ComparedShare, GroupComparison } from '../measures/groups.ts';
import type { Interval } from '../measures/proportions.ts';

/** What a symbol is called in tables and figures. */
export type SymbolTitle = (symbol: number) => string;

export const linkTitle = ([i, j]: readonly [number, number], title: SymbolTitle): string =>
  `${title(i)} – ${title(j)}`;

/** Findings above this share of false ones are not told as findings. */
const falseShare = 0.05;

export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
export const within = ([low, high]: Interval): string =>
  `${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)} %`;
export const pValue = (p: number): string => (p < 0.0001 ? '< 0.0001' : p.toFixed(4));

const comparedColumns = [
  { title: 'share', align: 'right' as const },
  { title: '95 %', align: 'left' as const, optional: true },
  { title: 'others', align: 'right' as const },
  { title: '95 % others', align: 'left' as const, optional: true },
  { title: "Cohen's h", digits: 2 },
  { title: 'p', align: 'right' as const, optional: true },
  { title: 'p corrected', align: 'right' as const },
];

const comparedCells = ({ own, others, effect, p, corrected }: ComparedShare): SheetCell[] => [
  ...[percent(own.share), within(own.interval), percent(others.share), within(others.interval)],
  ...[effect, pValue(p), pValue(corrected)],
];

/** Groups that are shown; all of them stand in the files. */
const shownGroups = 12;

/** The groups with most texts, in their order. */
function largestGroups({ groups }: Pick<GroupComparison, 'groups'>): GroupComparison['groups'] {
  const least = groups.map(({ texts }) => texts).sort((a, b) => b - a)[shownGroups - 1] ?? 0;
  return groups.filter(({ texts }) => texts >= least).slice(0, shownGroups);
}

function captionOf(comparison: GroupComparison): string {
  const { groups, left, interval, test, correction, against } = comparison;
  const shown = largestGroups(comparison);
  const counts = shown.map(({ group, texts }) => `${group} ${texts}`).join(', ');
  const [first, second] = groups.map(({ group }) => group);
  const beside =
    against === 'pair'
      ? `others being the texts of the other group: ${second} in rows of ${first}, ${first} in rows of ${second}; in the files a difference above 0 is more in ${first}`
      : 'others being all other texts';
  const rest = groups.length - shown.length;
  const hidden = rest === 0 ? '' : ` and ${rest} smaller groups, which stand in the files`;
  const without = left === 0 ? '' : ` ${left} texts are in no group compared.`;
  return `Share of a group's texts whose walk has it, ${beside}. Intervals: ${interval}. Test: ${test}, ${correction}. Texts: ${counts}${hidden}.${without}`;
}

/** For people: of each group what it has most more of, as far as it is no chance finding; for a pair both ways. */
export function comparisonSheets(comparison: GroupComparison, title: SymbolTitle, most = 5): Sheet[] {
  const shown = (name: string, heading: string, rows: (ComparedShare & { title: string })[]): Sheet => ({
    name,
    title: heading,
    caption: captionOf(comparison),
    columns: [{ title: 'group', align: 'left' }, { title: 'has more of', align: 'left' }, ...comparedColumns],
    rows: rows.map((one) => [one.group, one.title, ...comparedCells(one)]),
  });
  const symbols = comparison.symbols.map((one) => ({ ...one, title: title(one.symbol) }));
  const links = comparison.links.map((one) => ({ ...one, title: linkTitle(one.link, title) }));
  const largest = { ...comparison, groups: largestGroups(comparison) };
  const bySymbol = moreOf(largest, symbols, most);
  const byLink = moreOf(largest, links, most);
  const pair = comparison.groups.map(({ group }) => group).join(' or ');
  const which = comparison.against === 'pair' ? `${pair} has more of than the other` : 'a group has more of';
  return [
    shown('compare-most-symbols', `Symbols that ${which}`, bySymbol),
    shown('compare-most-links', `Links that ${which}`, byLink),
  ];
}

/** What is told where nothing is: that no difference is surely one. */
export function comparisonText({ symbols, links }: GroupComparison): string {
  const sure = (tests: readonly ComparedShare[]) =>
    tests.filter(({ corrected }) => corrected < falseShare).length;
  const none = sure(symbols) + sure(links) === 0 ? 'No group has surely more of any symbol or link. ' : '';
  return `${none}${sure(symbols)} of ${symbols.length} tests of symbols and ${sure(links)} of ${links.length} tests of links have a corrected p below ${falseShare}; the files hold all of them.`;
}

/** Of each group the findings with the largest effects; of a pair the second group's are the first one's turned round. */
export function moreOf<T extends ComparedShare>(
  { groups, against }: GroupComparison,
  all: readonly T[],
  most: number,
): T[] {
  const sure = all.filter(({ corrected }) => corrected < falseShare);
  const of = (list: readonly T[], group: string) =>
    list
      .filter((one) => one.group === group && one.effect > 0)
      .sort((a, b) => b.effect - a.effect)
      .slice(0, most);
  if (against === 'rest') return groups.flatMap(({ group }) => of(sure, group));
  const [first, second] = groups.map(({ group }) => group) as [string, string];
  const other = sure.map((one) => turned(one, second));
  return [...of(sure, first), ...of(other, second)];
}

function turned<T extends ComparedShare>(one: T, group: string): T {
  const [low, high] = one.differenceInterval;
  return {
    ...one,
    group,
    own: one.others,
    others: one.own,
    difference: -one.difference,
    differenceInterval: [-high, -low],
    effect: -one.effect,
  };
}

/** What a row of a whole table tells of a share beside that of the others. */
const testColumns = [
  ...['count', 'texts', 'share', 'low', 'high'],
  ...['others count', 'others texts', 'others share', 'others low', 'others high'],
  ...['difference', 'difference low', 'difference high', 'effect', 'p', 'p corrected'],
].map((title) => ({ title }));

function testCells({ own, others, difference, differenceInterval, ...test }: ComparedShare): SheetCell[] {
  const { effect, p, corrected } = test;
  return [
    ...[own, others].flatMap(({ count, texts, share, interval }) => [count, texts, share, ...interval]),
    ...[difference, ...differenceInterval, effect, p, corrected],
  ];
}

/** Everything, a row a test, for other programs. */
export function comparisonTables({ symbols, links }: GroupComparison, title: SymbolTitle): Sheet[] {
  const columns = [{ title: 'group' }, { title: 'name' }, ...testColumns];
  return [
    {
      name: 'compare-symbols',
      title: 'All symbols',
      columns: [{ title: 'symbol' }, ...columns],
      rows: symbols.map((one) => [one.symbol, one.group, title(one.symbol), ...testCells(one)]),
    },
    {
      name: 'compare-links',
      title: 'All links',
      columns: [{ title: 'from' }, { title: 'to' }, ...columns],
      rows: links.map((one) => [...one.link, one.group, linkTitle(one.link, title), ...testCells(one)]),
    },
  ];
}

/** Rows that one picture can show. */
export const mostRows = 48;

/** The differences with their intervals. */
export function comparisonFigure(comparison: GroupComparison, title: SymbolTitle, by: string) {
  const groups = largestGroups(comparison);
  const each = Math.max(1, Math.min(5, Math.floor(mostRows / groups.length)));
  const found = moreOf({ ...comparison, groups }, comparison.symbols, each).slice(0, mostRows);
  const heading = `What texts of one ${by} have more of`;
  const svg = forestFigure({
    title: heading,
    subtitle: `difference of shares of texts ${comparison.against === 'pair' ? `to the other of ${comparison.groups.map(({ group }) => group).join(' and ')}` : 'to all others'}, 95 % (Newcombe); p corrected by Benjamini–Hochberg, below ${falseShare}`,
    xLabel: 'more, in percentage points',
    written: (value) => `${Math.round(100 * value)}`,
    rows: found.map((one, at) => ({
      name: title(one.symbol),
      value: one.difference,
      low: one.differenceInterval[0],
      high: one.differenceInterval[1],
      colour: comparison.groups.findIndex(({ group }) => group === one.group),
      note: `p ${one.corrected < 0.0001 ? '' : '= '}${pValue(one.corrected)}`,
      ...(found[at - 1]?.group === one.group
        ? {}
        : { heading: /^\d+$/.test(one.group) ? `${by} ${one.group}` : one.group }),
    })),
  });
  return { name: 'compare', title: heading, svg };
}
