import { cut, drawing, heat, text } from './svg.ts';

export interface HeatFigure {
  title: string;
  rows: readonly string[];
  columns: readonly string[];
  /** [row][column] */
  values: readonly (readonly number[])[];
  /** The value of the darkest colour; the largest unless given. */
  most?: number;
  digits?: number;
}

const CELL = { width: 58, height: 34 };
const LEFT = 170;

/** A matrix with its numbers, darker for larger ones. */
export function heatFigure({ title, rows, columns, values, most, digits = 2 }: HeatFigure): string {
  const longest = columns.reduce((most, name) => Math.max(most, name.length), 0);
  const top = 66 + Math.min(86, 4.6 * longest + 12);
  const width = Math.max(LEFT + columns.length * CELL.width + 90, 420);
  const height = top + rows.length * CELL.height + 26;
  const largest = most ?? Math.max(1e-12, ...values.flat());
  const cells = values.flatMap((row, r) =>
    row.map((value, c) => {
      const [x, y] = [LEFT + c * CELL.width, top + r * CELL.height];
      const strength = value / largest;
      const ink = strength > 0.55 ? '#ffffff' : '#1f2933';
      const box = `<rect x="${x}" y="${y}" width="${CELL.width - 1}" height="${CELL.height - 1}" fill="${heat(strength)}"/>`;
      const middle = x + (CELL.width - 1) / 2;
      return box + text(middle, y + 21, value.toFixed(digits), { size: 12, anchor: 'middle', colour: ink });
    }),
  );
  const side = rows.map((name, r) =>
    text(LEFT - 10, top + r * CELL.height + 21, cut(name, LEFT - 30, 12), { size: 12, anchor: 'end' }),
  );
  const head = columns.map((name, c) => {
    const x = LEFT + (c + 0.5) * CELL.width;
    return `<g transform="translate(${x} ${top - 10}) rotate(-38)">${text(0, 0, cut(name, 120, 12), { size: 12 })}</g>`;
  });
  return drawing(width, height, title, [
    text(24, 34, cut(title, width - 48, 17), { size: 17, bold: true }),
    ...head,
    ...side,
    ...cells,
  ]);
}
