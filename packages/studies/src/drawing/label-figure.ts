import type { LabelMap } from '../measures/label-maps.ts';
import { cut, drawing, heat, INKS, linePath, type Mark, mark, outlinedText, placed, text } from './svg.ts';

export interface LabelFigure {
  title: string;
  /** Links of the graph (i, j, probability), drawn faintly under every label. */
  links: readonly (readonly [number, number, number])[];
  /** x and y of each symbol in the unit square: the same for all labels. */
  layout: Float64Array;
  /** What stands beside a symbol; its number unless given. */
  nameOf?: (symbol: number) => string;
}

const SIZE = 300;
const GAP = 22;
const MARGIN = 26;
const HEAD = 62;
const CAPTION = 40;
const INSET = 18;
/** Size of symbols' names. */
const NAME = 10;
/** Symbols that are named in a panel. */
const named = 5;
/** Links of a label that are drawn, most used first. */
const mostEdges = 80;

/** Schema distributions of labels on one layout (Figure 3): symbols and links by how much a label's walks use them. */
export function labelFigure(maps: readonly LabelMap[], figure: LabelFigure): string {
  const columns = evenColumns(maps.length);
  const rows = Math.ceil(maps.length / columns);
  const width = Math.max(2 * MARGIN + columns * (SIZE + GAP) - GAP, 520);
  const height = HEAD + rows * (SIZE + CAPTION + GAP) + 30;
  const most = {
    node: Math.max(...maps.map(({ nodes }) => nodes.reduce((a, b) => Math.max(a, b), 0)), 1e-12),
    edge: Math.max(...maps.map(({ edges }) => edges[0]?.share ?? 0), 1e-12),
  };
  const faint = faintLinks(figure);
  const panels = maps.map((map, at) => {
    const x = MARGIN + (at % columns) * (SIZE + GAP);
    const y = HEAD + Math.floor(at / columns) * (SIZE + CAPTION + GAP);
    return placed(x, y, ...panel(map, figure, most, faint));
  });
  return drawing({ width, height }, figure.title, [
    text(MARGIN, 36, cut(figure.title, width - 2 * MARGIN, 19), { size: 19, bold: true }),
    ...panels,
    ...scale(MARGIN, height - 24, most.node),
  ]);
}

/** Up to five panels in a row, such that the last row is as full as can be. */
function evenColumns(panels: number): number {
  if (panels <= 4) return Math.max(1, panels);
  const left = (columns: number) => (columns - (panels % columns)) % columns;
  return [4, 5, 3].reduce((best, columns) => (left(columns) < left(best) ? columns : best));
}

const place = ({ layout }: LabelFigure, symbol: number): [number, number] => [
  INSET + layout[2 * symbol]! * (SIZE - 2 * INSET),
  INSET + layout[2 * symbol + 1]! * (SIZE - 2 * INSET),
];

function faintLinks(figure: LabelFigure): Mark {
  const lines = figure.links
    .filter(([i, j]) => i !== j)
    .map(([i, j]) => linePath(place(figure, i), place(figure, j)));
  const opacity = Math.min(0.5, Math.max(0.16, 30 / (lines.length + 1)));
  const look = { stroke: '#9fb3c8', 'stroke-width': 0.6, 'stroke-opacity': opacity };
  return mark('path', { d: lines.join(''), fill: 'none', ...look });
}

function panel(
  map: LabelMap,
  figure: LabelFigure,
  most: { node: number; edge: number },
  faint: Mark,
): Mark[] {
  const order = Array.from(map.nodes.keys()).sort((a, b) => map.nodes[a]! - map.nodes[b]!);
  const nodes = order.map((symbol) => {
    const [x, y] = place(figure, symbol);
    const strength = map.nodes[symbol]! / most.node;
    return { symbol, x, y, strength, radius: 2.4 + 7 * Math.sqrt(strength) };
  });
  const circles = nodes.map(({ x, y, radius, strength }) =>
    mark('circle', { cx: x, cy: y, r: radius, fill: heat(strength), stroke: '#52606d', 'stroke-width': 0.5 }),
  );
  const names = namesOf(
    nodes.slice(-named).filter(({ strength }) => strength > 0),
    figure,
  );
  const ground = mark('rect', { width: SIZE, height: SIZE, rx: 6, fill: '#fbfcfd', stroke: INKS.line });
  return [
    text(0, -2, cut(map.label, SIZE, 14), { size: 14, bold: true }),
    placed(0, 8, ground, faint, ...usedLinks(map, figure, most.edge), ...circles, ...names),
    text(0, SIZE + 24, `${map.sentences} sentences`, { size: 11, colour: INKS.faint }),
  ];
}

function usedLinks({ edges }: LabelMap, figure: LabelFigure, most: number): Mark[] {
  return edges
    .slice(0, mostEdges)
    .reverse()
    .map(({ i, j, share }) => {
      const strength = Math.sqrt(share / most);
      const look = { stroke: heat(0.35 + 0.65 * strength), 'stroke-width': 0.4 + 3 * strength };
      const d = linePath(place(figure, i), place(figure, j));
      return mark('path', { d, fill: 'none', ...look, 'stroke-opacity': 0.15 + 0.75 * strength });
    });
}

interface PlacedNode {
  symbol: number;
  x: number;
  y: number;
  radius: number;
}

/** Names of symbols above them, or below where another name stands; the strongest, which come last, choose first. */
function namesOf(nodes: readonly PlacedNode[], figure: LabelFigure): Mark[] {
  const taken: { x: number; y: number; half: number }[] = [];
  const marks: Mark[] = [];
  for (const { symbol, x, y, radius } of [...nodes].reverse()) {
    const content = cut((figure.nameOf ?? String)(symbol), 110, NAME);
    const half = 0.29 * NAME * content.length;
    const inside = Math.min(SIZE - half - 3, Math.max(half + 3, x));
    const free = [y - radius - 2.5, y + radius + NAME]
      .map((line) => Math.min(SIZE - 3, Math.max(NAME + 1, line)))
      .find((line) =>
        taken.every(
          (other) => Math.abs(other.y - line) > NAME || Math.abs(other.x - inside) > other.half + half,
        ),
      );
    if (free === undefined) continue;
    taken.push({ x: inside, y: free, half });
    marks.push(outlinedText(inside, free, content, { size: NAME, anchor: 'middle' }));
  }
  return marks;
}

/** What the colours of symbols mean. */
function scale(x: number, y: number, most: number): Mark[] {
  const steps = 40;
  const bars = Array.from({ length: steps }, (_, i) =>
    mark('rect', { x: x + 4 * i, y: y - 10, width: 4.3, height: 10, fill: heat(i / (steps - 1)) }),
  );
  const meaning = `share of steps on a symbol: 0 to ${(100 * most).toFixed(1)} %`;
  return [...bars, text(x + 4 * steps + 8, y - 1, meaning, { size: 11, colour: INKS.faint })];
}
