import { cut, drawing, heat, INKS, type Mark, mark, placed, text, widthOf } from './svg.ts';

export interface HeatMap {
  rows: readonly string[];
  columns: readonly string[];
  /** Numbers from 0. [row][column] */
  values: readonly (readonly number[])[];
  /** The value of the strongest colour; the largest unless given. */
  most?: number | undefined;
  /** What is written into a cell, if anything. */
  written?: (value: number) => string;
}

/** How cells look and how large they are. */
export interface HeatLook {
  cell: { width: number; height: number };
  size: number;
  ink: string;
  faint: string;
  /** A cell's colour and that of its text, for a value from 0 to 1. */
  fill(strength: number): { fill: string; 'fill-opacity'?: number; ink: string };
  /** What a page tells of a cell that is pointed at. */
  titleOf?: (row: string, column: string, value: number) => string;
}

/** A matrix as coloured cells, with the size that it takes. */
export function heatMarks(map: HeatMap, look: HeatLook): { marks: Mark[]; width: number; height: number } {
  const { rows, columns } = map;
  const { cell, size, faint } = look;
  const longest = (names: readonly string[], most: number) =>
    Math.min(most, Math.max(24, ...names.map((name) => widthOf(name, size))));
  const side = longest(rows, 150) + 24;
  const top = 18 + 0.62 * longest(columns, 120);
  const heads = columns.map((name, c) => {
    const turned = `translate(${side + (c + 0.45) * cell.width} ${top - 8}) rotate(-38)`;
    return mark('g', { transform: turned }, text(0, 0, cut(name, 120, size), { size, colour: faint }));
  });
  const lines = rows.map((_, r) => placed(0, top + r * cell.height, ...rowMarks(map, look, r, side)));
  const width = side + columns.length * cell.width + 0.8 * longest(columns, 120);
  return { marks: [...heads, ...lines], width, height: top + rows.length * cell.height };
}

function rowMarks(
  { rows, columns, values, most, written }: HeatMap,
  look: HeatLook,
  r: number,
  side: number,
) {
  const { cell, size, ink, fill, titleOf } = look;
  const largest = most ?? Math.max(1e-12, ...values.flat());
  const base = cell.height / 2 + size / 3;
  const cells = columns.map((column, c) => {
    const value = values[r]![c]!;
    const { ink: over, ...colour } = fill(Math.min(1, value / largest));
    const box = { x: side + c * cell.width, width: cell.width - 1.5, height: cell.height - 1.5, rx: 2 };
    const title = titleOf ? [mark('title', {}, titleOf(rows[r]!, column, value))] : [];
    const middle = box.x + box.width / 2;
    const number = written?.(value);
    return mark(
      'g',
      {},
      mark('rect', { ...box, ...colour }, ...title),
      ...(number === undefined ? [] : [text(middle, base, number, { size, anchor: 'middle', colour: over })]),
    );
  });
  const name = cut(rows[r]!, 150, size);
  return [text(side - 8, base, name, { size, anchor: 'end', colour: ink }), ...cells];
}

const LOOK: HeatLook = {
  ...{ cell: { width: 58, height: 34 }, size: 12, ink: INKS.ink, faint: INKS.ink },
  fill: (strength) => ({ fill: heat(strength), ink: strength > 0.55 ? '#ffffff' : INKS.ink }),
};

/** A matrix with its numbers, darker for larger ones. */
export function heatFigure(figure: HeatMap & { title: string; digits?: number }): string {
  const { title, digits = 2, ...map } = figure;
  const { marks, ...size } = heatMarks({ ...map, written: (value) => value.toFixed(digits) }, LOOK);
  const width = Math.max(size.width + 40, 420);
  return drawing({ width, height: size.height + 76 }, title, [
    text(24, 34, cut(title, width - 48, 17), { size: 17, bold: true }),
    placed(24, 50, ...marks),
  ]);
}
