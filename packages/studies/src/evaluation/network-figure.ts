import { linearScale } from '../drawing/scales.ts';
import {
  cut,
  drawing,
  INKS,
  type Mark,
  mark,
  outlinedText,
  text,
  timeColour,
  widthOf,
} from '../drawing/svg.ts';
import { linePath } from './figures.ts';
import { spreadBoxes } from './spread-boxes.ts';

/** A symbol as it is drawn. */
export interface DrawnSymbol {
  name: string;
  /** Share of steps; its circle grows with it. */
  usage: number;
  /** What its colour says; grey without. */
  value?: number | undefined;
}

export interface NetworkFigure {
  title: string;
  subtitle: string;
  symbols: readonly DrawnSymbol[];
  /** x and y of each symbol in the unit square. */
  layout: Float64Array;
  /** With how strong each is, from 0 to 1. */
  links: readonly (readonly [i: number, j: number, strength: number])[];
  /** What the colours mean. */
  legend?: string;
}

const WIDTH = 1280;
const HEIGHT = 800;
const MARGIN = 28;
const HEAD = 84;
const FOOT = 56;
const NAME = 14;
const UNKNOWN = '#9aa5b1';

/** A schema network as one large picture: names under symbols, links as lines, colours by a value such as a year. */
export function networkFigure(figure: NetworkFigure): string {
  const { title, subtitle, symbols, links } = figure;
  const radii = radiiOf(symbols);
  const names = symbols.map(({ name }) => cut(name, 230, NAME));
  const places = placesOf(figure, radii, names);
  const { colourOf, marks } = coloursOf(figure);
  const circles = symbols.map(({ value }, at) => {
    const [cx, cy] = places[at]!;
    return mark('circle', {
      cx,
      cy,
      r: radii[at]!,
      fill: colourOf(value),
      stroke: INKS.ground,
      'stroke-width': 1.5,
    });
  });
  const labels = names.map((name, at) => {
    const [x, y] = places[at]!;
    return outlinedText(x, y + radii[at]! + NAME, name, { size: NAME, anchor: 'middle' });
  });
  return drawing({ width: WIDTH, height: HEIGHT }, title, [
    text(MARGIN, 42, cut(title, WIDTH - 2 * MARGIN, 24), { size: 24, bold: true }),
    text(MARGIN, 67, cut(subtitle, WIDTH - 2 * MARGIN, 15), { size: 15, colour: INKS.faint }),
    ...links.map((link) => lineOf(link, places)),
    ...circles,
    ...labels,
    ...marks,
  ]);
}

function radiiOf(symbols: readonly DrawnSymbol[]): number[] {
  const most = symbols.reduce((largest, { usage }) => Math.max(largest, usage), 0) || 1;
  return symbols.map(({ usage }) => 5 + 12 * Math.sqrt(Math.max(0, usage) / most));
}

type Place = readonly [x: number, y: number];

/** The layout stretched over the picture, symbols moved apart where their names would lie on each other. */
function placesOf({ layout }: NetworkFigure, radii: readonly number[], names: readonly string[]): Place[] {
  const [width, height] = [WIDTH - 2 * MARGIN, HEIGHT - HEAD - FOOT];
  const [across, down] = [stretched(layout, 0), stretched(layout, 1)];
  const boxes = names.map((name, at) => ({
    x: MARGIN + across[at]! * width,
    y: HEAD + down[at]! * height,
    width: Math.max(2 * radii[at]!, widthOf(name, NAME)) + 10,
    height: 2 * radii[at]! + NAME + 10,
  }));
  const area = { left: MARGIN, top: HEAD, right: WIDTH - MARGIN, bottom: HEIGHT - FOOT };
  // A box reaches from the top of the circle to the foot of the name.
  return spreadBoxes(boxes, area).map(({ x, y }): Place => [x, y - (NAME + 4) / 2]);
}

/** One coordinate of all symbols, from 0 to 1. */
function stretched(layout: Float64Array, axis: 0 | 1): number[] {
  const own = Array.from({ length: layout.length / 2 }, (_, at) => layout[2 * at + axis]!);
  const [least, most] = [Math.min(...own), Math.max(...own)];
  return own.map((value) => (most > least ? (value - least) / (most - least) : 0.5));
}

function lineOf([i, j, strength]: NetworkFigure['links'][number], places: readonly Place[]): Mark {
  return mark('path', {
    ...{ d: linePath([...places[i]!], [...places[j]!]), fill: 'none', stroke: '#7b8794' },
    'stroke-width': 0.6 + 3 * strength,
    'stroke-opacity': 0.3 + 0.4 * strength,
  });
}

/** Colours of values, with the scale that explains them. */
function coloursOf({ symbols, legend }: NetworkFigure): {
  colourOf: (value: number | undefined) => string;
  marks: Mark[];
} {
  const values = symbols.flatMap(({ value }) => (value === undefined ? [] : [value]));
  if (values.length === 0) return { colourOf: () => timeColour(0.33), marks: [] };
  const [left, right, y] = [WIDTH - MARGIN - 420, WIDTH - MARGIN - 20, HEIGHT - 38];
  const range = [Math.min(...values), Math.max(...values)] as const;
  const scale = linearScale(values, { from: left, to: right, ticks: 6, range });
  const share = (place: number) => (place - left) / (right - left);
  const steps = 80;
  const step = (right - left) / steps;
  const bars = Array.from({ length: steps }, (_, at) => {
    const fill = timeColour((at + 0.5) / steps);
    return mark('rect', { x: left + at * step, y, width: step + 0.3, height: 10, fill });
  });
  const ticks = scale.ticks.map(({ at }) =>
    text(scale.place(at), y + 26, String(at), { size: 13, anchor: 'middle', colour: INKS.faint }),
  );
  const meaning = text(left - 14, y + 10, legend ?? '', { size: 14, anchor: 'end', colour: INKS.faint });
  return {
    colourOf: (value) => (value === undefined ? UNKNOWN : timeColour(share(scale.place(value)))),
    marks: [...bars, ...ticks, meaning],
  };
}
