import {
  COLOURS,
  cut,
  drawing,
  INKS,
  type Inks,
  type Mark,
  mark,
  placed,
  short,
  text,
  widthOf,
} from './svg.ts';

/** A share over periods, with the stretches that stand out. */
export interface TimePanel {
  title: string;
  /** [periods]; low and high are the ends of its interval. A period without texts has no value. */
  values: readonly ({ value: number; low: number; high: number } | undefined)[];
  /** First and last period of each stretch. */
  marked: readonly (readonly [from: number, to: number])[];
}

export interface TimeFigure {
  title: string;
  subtitle: string;
  /** Names of the periods. */
  periods: readonly string[];
  panels: readonly TimePanel[];
}

const CELL = { width: 300, height: 120 };
const GAP = { x: 56, y: 62 };
const LEFT = 58;
const TOP = 112;

/** Shares over time in small panels, each with its interval as a band and its bursts shaded. */
export function timeFigure({ title, subtitle, periods, panels }: TimeFigure): string {
  const wide = Math.min(3, Math.max(2, panels.length));
  const rows = Math.ceil(panels.length / wide);
  const width = LEFT + wide * (CELL.width + GAP.x) - 20;
  const height = TOP + rows * (CELL.height + GAP.y) - 8;
  const drawn = panels.map((panel, at) =>
    placed(
      LEFT + (at % wide) * (CELL.width + GAP.x),
      TOP + Math.floor(at / wide) * (CELL.height + GAP.y),
      ...timePanelMarks(panel, periods, { ...INKS, accent: COLOURS[0]! }),
    ),
  );
  return drawing({ width, height }, title, [
    text(20, 34, cut(title, width - 40, 18), { size: 18, bold: true }),
    text(20, 58, cut(subtitle, width - 40, 12), { size: 12, colour: INKS.faint }),
    ...drawn,
  ]);
}

const burst = { fill: COLOURS[2]!, 'fill-opacity': 0.22 };

/** The room that one panel takes, names of periods and shares included: its own corner lies so far in. */
export const TIME_PANEL = { width: CELL.width + GAP.x, height: CELL.height + GAP.y, left: 44, top: 32 };

/** One panel: its title, the share as a line in its interval, and bursts shaded. */
export function timePanelMarks(
  { title, values, marked }: TimePanel,
  periods: readonly string[],
  inks: Inks & { accent: string },
): Mark[] {
  // Wide intervals of periods with few texts would flatten all curves.
  const tallest = Math.max(...values.map((of) => of?.value ?? 0));
  const most = niceTop(Math.min(1.6 * tallest, Math.max(...values.map((of) => of?.high ?? 0))) || 1);
  const step = CELL.width / values.length;
  const x = (at: number) => (at + 0.5) * step;
  const y = (value: number) => CELL.height * (1 - Math.min(1, value / most));
  const label = { size: 10, colour: inks.faint };
  return [
    text(0, -10, cut(title, CELL.width + 20, 12), { size: 12, bold: true, colour: inks.ink }),
    ...marked.map(([from, to]) =>
      mark('rect', { x: from * step, width: (to - from + 1) * step, height: CELL.height, ...burst }),
    ),
    ...[0, 0.5, 1].flatMap((share) => [
      mark('path', { d: `M0 ${short(y(share * most))}h${CELL.width}`, stroke: inks.line, fill: 'none' }),
      text(-7, y(share * most) + 4, percent(share * most, most), { ...label, anchor: 'end' }),
    ]),
    ...stretches(values).flatMap((run) => runMarks(run, x, y, inks.accent)),
    ...tickMarks(periods, x, inks),
  ];
}

type TimePoint = { at: number; value: number; low: number; high: number };

/** Periods that follow one another and have texts. */
function stretches(values: TimePanel['values']): TimePoint[][] {
  const runs: TimePoint[][] = [];
  for (const [at, of] of values.entries()) {
    if (!of) continue;
    if (at > 0 && values[at - 1]) runs.at(-1)!.push({ at, ...of });
    else runs.push([{ at, ...of }]);
  }
  return runs;
}

function runMarks(
  run: readonly TimePoint[],
  x: (at: number) => number,
  y: (value: number) => number,
  colour: string,
): Mark[] {
  const point = (at: number, value: number) => `${short(x(at))} ${short(y(value))}`;
  const low = run.map(({ at, low }) => point(at, low));
  const high = run.map(({ at, high }) => point(at, high)).reverse();
  const points = run.map(({ at, value }) => point(at, value)).join(' ');
  const look = { fill: 'none', stroke: colour, 'stroke-width': 2, 'stroke-linejoin': 'round' };
  return [
    mark('polygon', { points: [...low, ...high].join(' '), fill: colour, 'fill-opacity': 0.18 }),
    run.length > 1
      ? mark('polyline', { points, ...look })
      : mark('circle', { cx: x(run[0]!.at), cy: y(run[0]!.value), r: 3, fill: colour }),
  ];
}

/** As many names of periods as have room. */
function tickMarks(periods: readonly string[], x: (at: number) => number, { faint }: Inks): Mark[] {
  const room = Math.max(...periods.map((name) => widthOf(name, 10))) + 14;
  const every = Math.max(1, Math.ceil((periods.length * room) / CELL.width));
  return periods.flatMap((name, at) =>
    at % every === 0
      ? [text(x(at), CELL.height + 15, name, { size: 10, colour: faint, anchor: 'middle' })]
      : [],
  );
}

const percent = (value: number, most: number): string => `${(100 * value).toFixed(most < 0.04 ? 1 : 0)} %`;

/** The next round share above. */
function niceTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return Math.min(
    1,
    [1, 2, 3, 4, 5, 6, 8, 10].map((times) => times * power).find((round) => round >= value * 0.999)!,
  );
}
