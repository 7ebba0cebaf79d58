import { TIME_PANEL, timePanelMarks } from '@hidden-schema/studies/drawing';
import type { TimeAnswer } from '../client.ts';
import { Drawn } from '../drawn.tsx';
import { Figure, TableHead } from '../figure.tsx';
import { FONT } from '../inks.ts';
import { percent, title, titleIn } from '../labels.ts';
import { Failure, SymbolLink, Waiting } from '../parts.tsx';
import type { PanelProps } from './panel.ts';

const MOST_CHARTS = 8;
const MOST_BURSTS = 12;

type TimeProps = PanelProps & { time: TimeAnswer };
type Row = TimeAnswer['symbols'][number];

/** Shares of texts on symbols over time: of those that are asked for, else of those that change most. */
export function TimePanel(props: PanelProps) {
  const { time, timeFailure, view, change } = props;
  if (timeFailure !== null)
    return (
      <>
        <Failure message={timeFailure} />
        {view.period === '' ? null : (
          <button type="button" onClick={() => change({ period: '' })}>
            Choose periods by the number of texts
          </button>
        )}
      </>
    );
  return time ? <Times {...props} time={time} /> : <Waiting what="Counting over time …" />;
}

function Times(props: TimeProps) {
  const { time, view, change } = props;
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
      <label class="choice">
        Periods
        <select value={view.period} onChange={(event) => change({ period: event.currentTarget.value })}>
          <option value="">chosen by the number of texts</option>
          {time.lengths.map((length) => (
            <option key={length} value={length}>
              {length}
            </option>
          ))}
        </select>
      </label>
      <div class="time-charts">
        {shown.map((row) => (
          <TimeChart key={row.symbol} {...props} row={row} />
        ))}
      </div>
      <Bursts {...props} />
    </section>
  );
}

const weightOf = ({ bursts }: Row): number => bursts.reduce((sum, { weight }) => sum + weight, 0);
const mostChanged = ({ symbols }: TimeAnswer): Row[] =>
  symbols.toSorted((a, b) => weightOf(b) - weightOf(a) || a.corrected - b.corrected);
const chosen = ({ symbols }: TimeAnswer, asked: readonly number[]): Row[] =>
  asked.flatMap((symbol) => symbols.find((row) => row.symbol === symbol) ?? []);

/** One theme over time, where it is looked at by itself. */
export function SymbolOverTime({ of, ...props }: TimeProps & { of: number }) {
  const row = props.time.symbols.find(({ symbol }) => symbol === of);
  return row ? (
    <TimeChart {...props} row={row} caption={`Share of the texts of each ${props.time.period}`} />
  ) : null;
}

function TimeChart({ row, time, graph, dark, goTo, caption }: TimeProps & { row: Row; caption?: string }) {
  const node = graph?.nodes[row.symbol];
  const name = node ? title(node) : String(row.symbol);
  const { width, height, left, top } = TIME_PANEL;
  return (
    <Figure
      name={`time-${row.symbol}`}
      caption={caption ?? <SymbolLink symbol={row.symbol} label={name} onChoose={goTo} />}
      dark={dark}
      rows={() => timeRows(row, time)}
    >
      {(svg, inks) => (
        <svg
          ref={svg}
          viewBox={`0 0 ${width} ${height}`}
          class="time-chart"
          role="img"
          aria-label={`${name} over time: ${percent(row.all.share)} of all texts. ${burstsText(row)}`}
          font-family={FONT}
        >
          <g transform={`translate(${left} ${top - 12})`}>
            <Drawn
              marks={timePanelMarks(
                panelOf(row),
                time.periods.map(({ label }) => label),
                inks,
              )}
            />
          </g>
        </svg>
      )}
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

const timeRows = ({ shares }: Row, { periods }: TimeAnswer) => [
  ['period', 'count', 'texts', 'share', 'low', 'high'],
  ...shares.map(({ count, texts, share, interval }, at) => [
    periods[at]!.label,
    count,
    texts,
    share,
    ...interval,
  ]),
];

type NamedBurst = Row['bursts'][number] & { symbol: number };

const burstRows = (bursts: readonly NamedBurst[], nameOf: (symbol: number) => string) => [
  ['symbol', 'name', 'when', 'share then', 'share otherwise', 'weight'],
  ...bursts.map(({ symbol, label, inside, outside, weight }) => [
    ...[symbol, nameOf(symbol), label, inside.share, outside.share, weight],
  ]),
];

function Bursts({ time, graph, change, goTo }: TimeProps) {
  const bursts = time.symbols
    .flatMap(({ symbol, bursts: own }) => own.map((burst) => ({ symbol, ...burst })))
    .sort((a, b) => b.weight - a.weight);
  if (bursts.length === 0) return <p class="faint">No theme had a peak.</p>;
  const nameOf = (symbol: number) => titleIn(graph, symbol);
  return (
    <>
      <TableHead name="bursts" rows={() => burstRows(bursts, nameOf)}>
        Peaks
      </TableHead>
      <table class="bursts">
        <thead>
          <tr>
            <th>Theme</th>
            <th>When</th>
            <th>Share then</th>
            <th>At other times</th>
          </tr>
        </thead>
        <tbody>
          {bursts.slice(0, MOST_BURSTS).map((burst) => {
            const props = { burst, time, change, goTo, name: nameOf(burst.symbol) };
            return <BurstRow key={`${burst.symbol} ${burst.from}`} {...props} />;
          })}
        </tbody>
      </table>
      <details class="fold">
        <summary>How this is counted</summary>
        <p class="faint">
          Dates: column {time.column}. Bands: {time.interval}. Peaks: bursts by {time.burst}.
        </p>
      </details>
    </>
  );
}

interface BurstRowProps extends Pick<TimeProps, 'time' | 'change' | 'goTo'> {
  burst: NamedBurst;
  name: string;
}

function BurstRow({ burst, name, time, change, goTo }: BurstRowProps) {
  const { symbol, label, from, to, inside, outside } = burst;
  const between = { since: time.periods[from]!.start, until: time.periods[to]!.end };
  return (
    <tr>
      <td>
        <SymbolLink symbol={symbol} label={name} onChoose={goTo} />
      </td>
      <td>
        <button
          type="button"
          class="plain"
          title="Show these texts"
          onClick={() => change({ panel: 'texts', only: [symbol], ...between })}
        >
          {label}
        </button>
      </td>
      <td class="number">{percent(inside.share)}</td>
      <td class="number">{percent(outside.share)}</td>
    </tr>
  );
}
