import { linearScale, logScale, type Scale } from './scales.ts';
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

export interface Curve {
  /** In the legend; an empty one is not there. */
  name: string;
  points: readonly (readonly [x: number, y: number])[];
  /** Lower and upper bound at each x, as of one standard deviation. */
  band?: readonly (readonly [x: number, low: number, high: number])[];
  /** For what is compared with, such as baselines. */
  dashed?: boolean;
  /** Without marks at its points, where these are many. */
  plain?: boolean;
  /** By its place unless given. */
  colour?: string;
}

interface Plot {
  logX?: boolean;
  /** The range of x and of y; from the data where not given. */
  xRange?: readonly [number, number];
  yRange?: readonly [number, number];
  series: readonly Curve[];
  width?: number;
  height?: number;
  inks?: Inks;
}

export interface CurveFigure extends Plot {
  title: string;
  xLabel: string;
  yLabel: string;
}

/** Where the plot lies: between these lines. */
export interface Frame {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

const ROW = 20;

/** Curves with bands as SVG, with title, legend and axes. */
export function drawCurves(figure: CurveFigure): string {
  const { title, xLabel, yLabel, series, width = 760, height = 460, inks = INKS } = figure;
  const { marks: legend, rows } = legendOf(series, width, inks);
  const frame = { left: 72, right: width - 28, top: 68 + ROW * rows, bottom: height - 64 };
  const name = { size: 14, anchor: 'middle', colour: inks.ink } as const;
  const upright = `translate(20 ${short((frame.top + frame.bottom) / 2)}) rotate(-90)`;
  return drawing({ width, height, inks }, title, [
    text(20, 32, cut(title, width - 40, 18), { size: 18, bold: true, colour: inks.ink }),
    ...legend,
    ...plotCurves(figure, frame, 12).marks,
    text((frame.left + frame.right) / 2, height - 18, xLabel, name),
    mark('g', { transform: upright }, text(0, 0, yLabel, name)),
  ]);
}

/** Axes and curves within a frame, with the scales that place them. */
export function plotCurves(plot: Plot, frame: Frame, size: number): { marks: Mark[]; x: Scale; y: Scale } {
  const { series, inks = INKS } = plot;
  const { left, right, top, bottom } = frame;
  const inside = within(plot);
  const xs = series.flatMap(({ points }) => points.map(([x]) => x));
  const ys = series.flatMap(({ points, band = [] }) => [
    ...points.filter(inside).map(([, y]) => y),
    ...band.flatMap(([, low, high]) => [low, high]),
  ]);
  const across = { from: left, to: right, ticks: Math.max(2, (right - left) / 80), range: plot.xRange };
  const x = plot.logX ? logScale(xs, across) : linearScale(xs, { ...across, zero: true });
  const ticks = Math.max(2, (bottom - top) / 50);
  const y = linearScale(ys, { from: bottom, to: top, ticks, range: plot.yRange });
  const bands = series.flatMap((curve, at) => bandOf(curve, at, { x, y, inside }));
  const lines = series.flatMap((curve, at) => lineOf(curve, at, { x, y, inside }));
  return { marks: [...axes(frame, { x, y }, inks, size), ...bands, ...lines], x, y };
}

/** Whether a point has a place: a logarithmic axis has none for zero. */
const within =
  ({ xRange, logX }: Plot) =>
  ([x]: readonly number[]): boolean =>
    (!xRange || (x! >= xRange[0] && x! <= xRange[1])) && (!logX || x! > 0);

function axes(
  { left, right, top, bottom }: Frame,
  { x, y }: { x: Scale; y: Scale },
  inks: Inks,
  size: number,
) {
  const style = { size, colour: inks.faint };
  const labelled = roomy(x.ticks, (tick) => x.place(tick.at), size);
  return [
    ...y.ticks.map(({ at }) => {
      const line = `M${short(left)} ${short(y.place(at))}H${short(right)}`;
      return mark('path', { d: line, stroke: inks.line, fill: 'none' });
    }),
    ...y.ticks.map(({ at, label }) =>
      text(left - 8, y.place(at) + size / 3, label, { ...style, anchor: 'end' }),
    ),
    ...labelled.map(({ at, label }) =>
      text(x.place(at), bottom + size + 6, label, { ...style, anchor: 'middle' }),
    ),
    mark('path', {
      d: `M${short(left)} ${short(top)}V${short(bottom)}H${short(right)}`,
      stroke: inks.faint,
      'stroke-opacity': 0.6,
      fill: 'none',
    }),
  ];
}

/** Those whose labels do not touch the one before. */
function roomy<T extends { label: string }>(
  ticks: readonly T[],
  place: (tick: T) => number,
  size: number,
): T[] {
  let end = Number.NEGATIVE_INFINITY;
  return ticks.filter((tick) => {
    const half = widthOf(tick.label, size) / 2;
    if (place(tick) - half < end + 6) return false;
    end = place(tick) + half;
    return true;
  });
}

interface Placing {
  x: Scale;
  y: Scale;
  inside: (point: readonly number[]) => boolean;
}

/** The band of a curve: along its lower bounds, and back along the upper ones. */
function bandOf(curve: Curve, at: number, { x, y, inside }: Placing): Mark[] {
  const band = curve.band?.filter(inside) ?? [];
  if (band.length === 0) return [];
  const lower = band.map(([px, low]) => `${short(x.place(px))} ${short(y.place(low))}`);
  const upper = band.map(([px, , high]) => `${short(x.place(px))} ${short(y.place(high))}`);
  const points = [...lower, ...upper.reverse()].join(' ');
  return [mark('polygon', { points, fill: colourOf(curve, at), 'fill-opacity': 0.16 })];
}

function lineOf(curve: Curve, at: number, { x, y, inside }: Placing): Mark[] {
  const colour = colourOf(curve, at);
  const points = curve.points.filter(inside).map(([px, py]) => [x.place(px), y.place(py)] as const);
  const dots = curve.plain && points.length > 1 ? [] : points.map(([px, py]) => dot(at, px, py, colour));
  if (points.length < 2) return dots;
  const through = points.map(([px, py]) => `${short(px)},${short(py)}`).join(' ');
  const line = {
    points: through,
    fill: 'none',
    stroke: colour,
    'stroke-width': 2.2,
    'stroke-linejoin': 'round',
  };
  return [mark('polyline', { ...line, 'stroke-dasharray': dashOf(curve) }), ...dots];
}

const dashOf = ({ dashed }: Curve): string | undefined => (dashed ? '7 5' : undefined);
const colourOf = (curve: Curve, at: number): string => curve.colour ?? COLOURS[at % COLOURS.length]!;

/** A point, of another shape for each of four curves. */
function dot(at: number, x: number, y: number, fill: string): Mark {
  const shapes = [
    'M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z',
    'M-3.6 -3.6h7.2v7.2h-7.2Z',
    'M0 -4.6L4.4 3.6H-4.4Z',
    'M0 -5L5 0L0 5L-5 0Z',
  ];
  return placed(x, y, mark('path', { d: shapes[at % shapes.length]!, fill }));
}

/** Names beside pieces of their curves, in as many rows as they need. */
function legendOf(series: readonly Curve[], width: number, inks: Inks): { marks: Mark[]; rows: number } {
  let [left, row] = [20, 0];
  const marks = series.flatMap((curve, at) => {
    if (curve.name === '') return [];
    const name = cut(curve.name, width - 90, 13);
    const wide = 60 + widthOf(name, 13);
    if (left > 20 && left + wide > width) [left, row] = [20, row + 1];
    const colour = colourOf(curve, at);
    const item = placed(
      left,
      55 + ROW * row,
      mark('path', { d: 'M0 0h30', stroke: colour, 'stroke-width': 2.2, 'stroke-dasharray': dashOf(curve) }),
      ...(curve.plain ? [] : [dot(at, 15, 0, colour)]),
      text(37, 4.5, name, { size: 13, colour: inks.ink }),
    );
    left += wide;
    return [item];
  });
  return { marks, rows: row + 1 };
}
