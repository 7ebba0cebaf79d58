import { TIME_PANEL, timePanelMarks } from '@hidden-schema/studies/drawing';
import type { Graph, TimeAnswer } from '../client.ts';
import { Drawn, Figure, TableHead } from '../figure.tsx';
import { inksOf } from '../graph/colours.ts';
import { percent, titleIn } from '../labels.ts';
import { Choice, Failure, Press, SymbolLink, Waiting } from '../parts.tsx';
import { type Column, csvOf, DataTable } from '../tables.tsx';
import { usePanel } from './panel.ts';

const MOST_CHARTS = 8;
const MOST_BURSTS = 12;

type TimeProps = { time: TimeAnswer };
type Row = TimeAnswer['symbols'][number];

/** Shares of texts on symbols over time: of those that are asked for, else of those that change most. */
export function TimePanel() {
  const { time, timeFailure, view, change } = usePanel();
  if (timeFailure !== null)
    return (
      <>
        <Failure message={timeFailure} />
        {view.period === '' ? null : (
          <Press onClick={() => change({ period: '' })}>Choose periods by the number of texts</Press>
        )}
      </>
    );
  return time ? <Times time={time} /> : <Waiting what="Counting over time …" />;
}

function Times({ time }: TimeProps) {
  const { view, change } = usePanel();
  const asked = view.only.length > 0 ? view.only : view.symbol === null ? [] : [view.symbol];
  const shown = (asked.length > 0 ? chosen(time, asked) : mostChanged(time)).slice(0, MOST_CHARTS);
  return (
    <section class="times" aria-label="Time">
      <p class="faint">
        {asked.length > 0 ? 'The themes that were asked for' : 'The themes that change most'}: the share of
        the texts of each {time.period} that go through each. Shaded: when a theme was far more frequent than
        usual.
        {time.undated > 0 ? ` ${time.undated.toLocaleString('en')} texts have no date.` : ''}
      </p>
      <Choice
        {...{ label: 'Periods', value: view.period, onChoose: (period: string) => change({ period }) }}
        options={[['', 'chosen by the number of texts'], ...time.lengths]}
      />
      <div class="time-charts">
        {shown.map((row) => (
          <TimeChart key={row.symbol} {...{ time, row }} />
        ))}
      </div>
      <Bursts time={time} />
    </section>
  );
}

const weightOf = ({ bursts }: Row): number => bursts.reduce((sum, { weight }) => sum + weight, 0);
const mostChanged = ({ symbols }: TimeAnswer): Row[] =>
  symbols.toSorted((a, b) => weightOf(b) - weightOf(a) || a.corrected - b.corrected);
const chosen = ({ symbols }: TimeAnswer, asked: readonly number[]): Row[] =>
  asked.flatMap((symbol) => symbols.find((row) => row.symbol === symbol) ?? []);

/** One theme over time, where it is looked at by itself. */
export function SymbolOverTime({ of, time }: TimeProps & { of: number }) {
  const row = time.symbols.find(({ symbol }) => symbol === of);
  return row ? <TimeChart {...{ time, row }} caption={`Share of the texts of each ${time.period}`} /> : null;
}

function TimeChart({ row, time, caption }: TimeProps & { row: Row; caption?: string }) {
  const { graph, dark } = usePanel();
  const { width, height, left, top } = TIME_PANEL;
  const inks = inksOf(dark);
  const periods = time.periods.map(({ label }) => label);
  return (
    <Figure
      {...{ name: `time-${row.symbol}`, class: 'time-chart', inks, size: [width, height] }}
      caption={caption ?? <SymbolLink symbol={row.symbol} />}
      rows={timeRows(row, time)}
      aria-label={`${titleIn(graph, row.symbol)} over time: ${percent(row.all.share)} of all texts. ${burstsText(row)}`}
    >
      <g transform={`translate(${left} ${top - 12})`}>
        <Drawn marks={timePanelMarks(panelOf(row), periods, inks)} />
      </g>
    </Figure>
  );
}

const panelOf = ({ shares, bursts }: Row) => ({
  title: '',
  values: shares.map(({ share, interval: [low, high], texts }) =>
    texts === 0 ? undefined : { value: share, low, high },
  ),
  marked: bursts.map(({ from, to }) => [from, to] as const),
});

const burstsText = ({ bursts }: Row): string =>
  bursts.length === 0 ? 'No peaks.' : `Peaks: ${bursts.map(({ label }) => label).join(', ')}.`;

const timeRows = ({ shares }: Row, { periods }: TimeAnswer) =>
  csvOf(shares, {
    period: (_, at) => periods[at]!.label,
    ...{ count: 'count', texts: 'texts', share: 'share' },
    ...{ low: ({ interval }) => interval[0], high: ({ interval }) => interval[1] },
  });

type NamedBurst = Row['bursts'][number] & { symbol: number };

const burstRows = (bursts: readonly NamedBurst[], graph: Graph | null) =>
  csvOf(bursts, {
    ...{ symbol: 'symbol', name: ({ symbol }) => titleIn(graph, symbol), when: 'label' },
    'share then': ({ inside }) => inside.share,
    'share otherwise': ({ outside }) => outside.share,
    weight: 'weight',
  });

const burstColumns = (show: (burst: NamedBurst) => void): Column<NamedBurst>[] => [
  { head: 'Theme', cell: ({ symbol }) => <SymbolLink symbol={symbol} /> },
  {
    head: 'When',
    cell: (burst) => (
      <Press class="plain" title="Show these texts" onClick={() => show(burst)}>
        {burst.label}
      </Press>
    ),
  },
  { head: 'Share then', class: 'number', cell: ({ inside }) => percent(inside.share) },
  { head: 'At other times', class: 'number', cell: ({ outside }) => percent(outside.share) },
];

function Bursts({ time }: TimeProps) {
  const { graph, change } = usePanel();
  const bursts = time.symbols
    .flatMap(({ symbol, bursts: own }) => own.map((burst) => ({ symbol, ...burst })))
    .sort((a, b) => b.weight - a.weight);
  if (bursts.length === 0) return <p class="faint">No theme had a peak.</p>;
  const show = ({ symbol, from, to }: NamedBurst) =>
    change({
      ...{ panel: 'texts', only: [symbol] },
      ...{ since: time.periods[from]!.start, until: time.periods[to]!.end },
    });
  return (
    <>
      <TableHead name="bursts" rows={burstRows(bursts, graph)}>
        Peaks
      </TableHead>
      <DataTable class="bursts" of={bursts.slice(0, MOST_BURSTS)} columns={burstColumns(show)} />
      <details class="fold">
        <summary>How this is counted</summary>
        <p class="faint">
          Dates: column {time.column}. Bands: {time.interval}. Peaks: bursts by {time.burst}.
        </p>
      </details>
    </>
  );
}
