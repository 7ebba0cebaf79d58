import { linearScale } from './scales.ts';
import { COLOURS, cut, drawing, INKS, type Mark, mark, short, text } from './svg.ts';

/** A value with its interval, told in a row of its own. */
export interface ForestRow {
  name: string;
  value: number;
  low: number;
  high: number;
  /** Which of the colours; rows of one group have the same. */
  colour: number;
  /** At the right end, such as a p-value. */
  note?: string;
  /** Stands over the first row of a group. */
  heading?: string;
}

export interface ForestFigure {
  title: string;
  subtitle: string;
  xLabel: string;
  rows: readonly ForestRow[];
  /** How values on the axis are written. */
  written?: (value: number) => string;
}

const ROW = 22;
const HEAD = 30;
const WIDTH = 860;
const LEFT = 310;
const RIGHT = 110;
const TOP = 100;

/** Values with their intervals one under the other, and a line at zero. */
export function forestFigure({ title, subtitle, xLabel, rows, written = String }: ForestFigure): string {
  const places = rowPlaces(rows);
  const bottom = (places.at(-1) ?? TOP) + ROW;
  const ends = rows.flatMap(({ low, high }) => [low, high]);
  const x = linearScale([0, ...ends], { from: LEFT, to: WIDTH - RIGHT, ticks: 6 });
  const line = (at: number) => `M${short(x.place(at))} ${TOP - 24}V${bottom}`;
  const axis = x.ticks.flatMap(({ at }) => [
    mark('path', { d: line(at), stroke: at === 0 ? INKS.faint : INKS.line, fill: 'none' }),
    text(x.place(at), bottom + 18, written(at), { size: 11, colour: INKS.faint, anchor: 'middle' }),
  ]);
  return drawing({ width: WIDTH, height: bottom + 52 }, title, [
    text(20, 34, cut(title, WIDTH - 40, 18), { size: 18, bold: true }),
    text(20, 56, cut(subtitle, WIDTH - 40, 12), { size: 12, colour: INKS.faint }),
    ...axis,
    ...rows.flatMap((row, at) => rowMarks(row, places[at]!, x.place)),
    text((LEFT + WIDTH - RIGHT) / 2, bottom + 40, xLabel, { size: 13, anchor: 'middle' }),
  ]);
}

/** The height of each row; a heading takes room above its first. */
function rowPlaces(rows: readonly ForestRow[]): number[] {
  let y = TOP - ROW;
  return rows.map(({ heading }) => {
    y += heading === undefined ? ROW : HEAD + (y < TOP ? 0 : ROW - 4);
    return y;
  });
}

function rowMarks(row: ForestRow, y: number, place: (value: number) => number): Mark[] {
  const { name, value, low, high, colour, note, heading } = row;
  const fill = COLOURS[colour % COLOURS.length]!;
  const line = `M${short(place(low))} ${y}H${short(place(high))}`;
  return [
    ...(heading === undefined
      ? []
      : [text(20, y - 18, cut(heading, LEFT, 13), { size: 13, bold: true, colour: fill })]),
    text(LEFT - 12, y + 4, cut(name, LEFT - 30, 12), { size: 12, anchor: 'end' }),
    mark('path', { d: line, stroke: fill, 'stroke-width': 2.2, fill: 'none' }),
    mark('circle', { cx: place(value), cy: y, r: 4.2, fill }),
    ...(note === undefined
      ? []
      : [text(WIDTH - 16, y + 4, cut(note, RIGHT, 11), { size: 11, colour: INKS.faint, anchor: 'end' })]),
  ];
}
