import { linearScale } from './scales.ts';
import { spreadBoxes } from './spread-boxes.ts';
import {
  cut,
  drawing,
  INKS,
  type Inks,
  linePath,
  type Mark,
  mark,
  outlinedText,
  short,
  text,
  timeColour,
  widthOf,
} from './svg.ts';

/** A symbol as it is drawn. */
export interface DrawnSymbol {
  name: string;
  /** Share of steps; the area of its circle. */
  usage: number;
  /** Position on the colour scale; grey without one, unless `colour` is given. */
  value?: number | undefined;
  colour?: string;
}

/** Texts drawn as dots under the network. */
export interface FigureDots {
  /** x and y of each text in turn, in the unit square of the symbols' layout. [N, 2] */
  places: ArrayLike<number>;
  colourOf(text: number): string;
}

export interface NetworkFigure {
  title: string;
  subtitle: string;
  symbols: readonly DrawnSymbol[];
  /** x and y of each symbol in the unit square. */
  layout: ArrayLike<number>;
  /** With how strong each is, from 0 to 1. */
  links: readonly (readonly [i: number, j: number, strength: number])[];
  /** What the colours mean. */
  legend?: string;
  /** Without a heading, for a page that has one; the title stays for those who do not see the picture. */
  bare?: true;
  dots?: FigureDots;
  inks?: Inks;
}

const WIDTH = 1280;
const MARGIN = 28;
/** Height of a picture, and what its heading and its scale take of it. */
const FRAME = { height: 800, head: 84, foot: 56 };
const BARE = { height: 580, head: 20, foot: 20 };
const frameOf = ({ bare }: NetworkFigure) => (bare ? BARE : FRAME);
const NAME = 14;
const UNKNOWN = '#9aa5b1';

/** A schema network as one large picture: names under symbols, links as lines, texts as dots where they have places. */
export function networkFigure(figure: NetworkFigure): string {
  const { title, symbols, links, inks = INKS } = figure;
  const radii = radiiOf(symbols);
  const names = symbols.map(({ name }) => cut(name, 230, NAME));
  const places = placesOf(figure, radii, names);
  const { colourOf, marks } = coloursOf(figure);
  const circles = symbols.map((symbol, at) => {
    const [cx, cy] = places[at]!;
    const fill = symbol.colour ?? colourOf(symbol.value);
    return mark('circle', { cx, cy, r: radii[at]!, fill, stroke: inks.ground, 'stroke-width': 1.5 });
  });
  const labels = names.map((name, at) => {
    const [x, y] = places[at]!;
    const style = { size: NAME, anchor: 'middle', colour: inks.ink, ground: inks.ground } as const;
    return outlinedText(x, y + radii[at]! + NAME, name, style);
  });
  return drawing({ width: WIDTH, height: frameOf(figure).height, inks }, title, [
    ...dotMarks(figure),
    ...headingOf(figure),
    ...links.map((link) => lineOf(link, places)),
    ...circles,
    ...labels,
    ...marks,
  ]);
}

function headingOf({ title, subtitle, bare, inks = INKS }: NetworkFigure): Mark[] {
  if (bare) return [];
  return [
    text(MARGIN, 42, cut(title, WIDTH - 2 * MARGIN, 24), { size: 24, bold: true, colour: inks.ink }),
    text(MARGIN, 67, cut(subtitle, WIDTH - 2 * MARGIN, 15), { size: 15, colour: inks.faint }),
  ];
}

function radiiOf(symbols: readonly DrawnSymbol[]): number[] {
  const most = symbols.reduce((largest, { usage }) => Math.max(largest, usage), 0) || 1;
  return symbols.map(({ usage }) => 5 + 12 * Math.sqrt(Math.max(0, usage) / most));
}

type Place = readonly [x: number, y: number];
const AREA_WIDTH = WIDTH - 2 * MARGIN;
const areaHeight = ({ height, head, foot }: typeof FRAME) => height - head - foot;

/** The layout stretched over the picture, symbols moved apart where their names would lie on each other. */
function placesOf(figure: NetworkFigure, radii: readonly number[], names: readonly string[]): Place[] {
  const { layout, dots } = figure;
  const frame = frameOf(figure);
  // Symbols among texts keep to the scale of these.
  const [across, down] = dots
    ? [axisOf(layout, 0), axisOf(layout, 1)]
    : [0, 1].map((axis) => stretched(layout, axis));
  const boxes = names.map((name, at) => ({
    x: MARGIN + across![at]! * AREA_WIDTH,
    y: frame.head + down![at]! * areaHeight(frame),
    width: Math.max(2 * radii[at]!, widthOf(name, NAME)) + 10,
    height: 2 * radii[at]! + NAME + 10,
  }));
  const area = {
    ...{ left: MARGIN, right: WIDTH - MARGIN },
    ...{ top: frame.head, bottom: frame.height - frame.foot },
  };
  // A box reaches from the top of the circle to the foot of the name.
  return spreadBoxes(boxes, area).map(({ x, y }): Place => [x, y - (NAME + 4) / 2]);
}

const axisOf = (layout: ArrayLike<number>, axis: number): number[] =>
  Array.from({ length: layout.length / 2 }, (_, at) => layout[2 * at + axis]!);

/** One coordinate of all symbols, from 0 to 1. */
function stretched(layout: ArrayLike<number>, axis: number): number[] {
  const own = axisOf(layout, axis);
  const [least, most] = [Math.min(...own), Math.max(...own)];
  return own.map((value) => (most > least ? (value - least) / (most - least) : 0.5));
}

/** One path a colour, so that thousands of texts stay a small file. */
function dotMarks(figure: NetworkFigure): Mark[] {
  const { dots } = figure;
  if (!dots) return [];
  const frame = frameOf(figure);
  const count = dots.places.length / 2;
  const paths = new Map<string, string[]>();
  for (let n = 0; n < count; n++) {
    const colour = dots.colourOf(n);
    const x = MARGIN + dots.places[2 * n]! * AREA_WIDTH;
    const y = frame.head + dots.places[2 * n + 1]! * areaHeight(frame);
    const path = paths.get(colour) ?? [];
    path.push(`M${short(Math.round(10 * x) / 10)} ${short(Math.round(10 * y) / 10)}h0`);
    paths.set(colour, path);
  }
  const width = Math.max(2.4, Math.min(5, 250 / Math.sqrt(count + 1)));
  const look = { fill: 'none', 'stroke-width': width, 'stroke-linecap': 'round', 'stroke-opacity': 0.6 };
  return [...paths].map(([stroke, lines]) => mark('path', { d: lines.join(''), stroke, ...look }));
}

function lineOf([i, j, strength]: NetworkFigure['links'][number], places: readonly Place[]): Mark {
  return mark('path', {
    ...{ d: linePath(places[i]!, places[j]!), fill: 'none', stroke: '#7b8794' },
    'stroke-width': 0.6 + 3 * strength,
    'stroke-opacity': 0.3 + 0.4 * strength,
  });
}

/** Colours of values, with the scale that explains them. */
function coloursOf({ symbols, legend, inks = INKS }: NetworkFigure): {
  colourOf: (value: number | undefined) => string;
  marks: Mark[];
} {
  const values = symbols.flatMap(({ value }) => (value === undefined ? [] : [value]));
  if (values.length === 0) return { colourOf: () => timeColour(0.33), marks: [] };
  const [left, right, y] = [WIDTH - MARGIN - 420, WIDTH - MARGIN - 20, FRAME.height - 38];
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
    text(scale.place(at), y + 26, String(at), { size: 13, anchor: 'middle', colour: inks.faint }),
  );
  const meaning = text(left - 14, y + 10, legend ?? '', { size: 14, anchor: 'end', colour: inks.faint });
  return {
    colourOf: (value) => (value === undefined ? UNKNOWN : timeColour(share(scale.place(value)))),
    marks: [...bars, ...ticks, meaning],
  };
}
