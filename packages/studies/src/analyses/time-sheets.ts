import { columnsOf, type Sheet, type SheetCell } from '../drawing/sheets.ts';
import { timeFigure } from '../drawing/time-figure.ts';
import { burstWeight, firstBurst, type ShareOverTime, type TimeStudy } from '../measures/time.ts';
import { linkTitle, percent, type SymbolTitle, within } from './compare-sheets.ts';

const namedShares = (
  { symbols, links }: TimeStudy,
  what: 'symbols' | 'links',
  title: SymbolTitle,
): (ShareOverTime & { name: string })[] =>
  what === 'symbols'
    ? symbols.map((one) => ({ ...one, name: title(one.symbol) }))
    : links.map((one) => ({ ...one, name: linkTitle(one.link, title) }));

/** Bursts, the strongest first. */
export function burstSheet(study: TimeStudy, title: SymbolTitle, most = 20): Sheet {
  const rows = [...namedShares(study, 'symbols', title), ...namedShares(study, 'links', title)]
    .flatMap(({ name, bursts }) => bursts.map((burst) => ({ name, ...burst })))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, most);
  return {
    name: 'time-bursts',
    title: 'Bursts: when a symbol or link was more frequent than at other times',
    caption: `Share of texts whose walk has it, with Wilson intervals of 95 %. Bursts: ${study.burst}; weight is in nats. Periods: ${study.period}s.${study.undated > 0 ? ` ${study.undated} texts have no date.` : ''}`,
    columns: columnsOf({
      ...{ 'symbol or link': 'left', when: 'left', 'share then': 'right', '95 %': 'left' },
      ...{ otherwise: 'right', weight: 1 },
    }),
    rows: rows.map(({ name, label, inside, outside, weight }) => [
      ...[name, label, percent(inside.share), within(inside.interval), percent(outside.share), weight],
    ]),
  };
}

/** Everything, a row a symbol or link and period, for other programs. */
export function timeTables({ periods, symbols, links }: TimeStudy, title: SymbolTitle): Sheet[] {
  const columns = ['name', 'period', 'count', 'texts', 'share', 'low', 'high', 'burst', 'p corrected'].map(
    (name) => ({ title: name }),
  );
  const rows = (one: ShareOverTime, head: SheetCell[], name: string) =>
    one.shares.map(({ count, texts, share, interval }, at) => [
      ...head,
      ...[name, periods[at]!.label, count, texts, share, ...interval],
      one.bursts.some(({ from, to }) => from <= at && at <= to) ? 1 : 0,
      one.corrected,
    ]);
  return [
    {
      name: 'time-symbols',
      title: 'Symbols over time',
      columns: [{ title: 'symbol' }, ...columns],
      rows: symbols.flatMap((one) => rows(one, [one.symbol], title(one.symbol))),
    },
    {
      name: 'time-links',
      title: 'Links over time',
      columns: [{ title: 'from' }, { title: 'to' }, ...columns],
      rows: links.flatMap((one) => rows(one, [...one.link], linkTitle(one.link, title))),
    },
  ];
}

/** Panels of what changes most: by weight of bursts, then by how surely shares differ. */
export function timeFigureOf(study: TimeStudy, what: 'symbols' | 'links', title: SymbolTitle, most = 12) {
  const all = namedShares(study, what, title);
  const shown = all.sort((a, b) => burstWeight(b) - burstWeight(a) || a.p - b.p).slice(0, most);
  const heading = `${what === 'symbols' ? 'Symbols' : 'Links'} over time`;
  const svg = timeFigure({
    title: heading,
    subtitle: `share of the texts of each ${study.period} whose walk has it; bands: ${study.interval}; shaded: bursts (${study.burst})`,
    periods: study.periods.map(({ label }) => label),
    panels: shown
      .sort((a, b) => firstBurst(a) - firstBurst(b))
      .map(({ name, shares, bursts }) => ({
        title: name,
        values: shares.map(({ share, interval: [low, high], texts }) =>
          texts === 0 ? undefined : { value: share, low, high },
        ),
        marked: bursts.map(({ from, to }) => [from, to] as const),
      })),
  });
  return { name: `time-${what}`, title: heading, svg };
}
