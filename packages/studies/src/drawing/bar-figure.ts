import { COLOURS, cut, drawing, INKS, type Mark, mark, placed, text } from './svg.ts';

export interface BarGrid {
  title: string;
  subtitle?: string;
  rows: readonly string[];
  columns: readonly string[];
  /** Distributions, all of one length. [row][column] */
  values: readonly (readonly ArrayLike<number>[])[];
  /** What stands over a high bar; its number unless given. */
  nameOf?: (at: number) => string;
}

const CELL = { width: 300, height: 92 };
const LEFT = 84;
const TOP = 104;
const GAP = 26;
const tick = { size: 9, colour: INKS.faint, anchor: 'end' } as const;
/** Bars that are named in each panel. */
const named = 3;

/** Distributions as bars in a grid: a colour for each column, one height for each row. */
export function barGrid(grid: BarGrid): string {
  const { rows, columns, values, title, subtitle } = grid;
  const width = LEFT + columns.length * (CELL.width + GAP) + 8;
  const height = TOP + rows.length * (CELL.height + GAP) + 14;
  const panels = values.flatMap((row, r) => {
    const most = Math.max(1e-12, ...row.flatMap((cell) => Array.from(cell)));
    return row.map((cell, c) => {
      const [x, y] = [LEFT + c * (CELL.width + GAP), TOP + r * (CELL.height + GAP)];
      const drawn = bars(cell, most, COLOURS[c % COLOURS.length]!, grid);
      const top = c > 0 ? [] : [text(-6, 20, `${(100 * most).toFixed(0)} %`, tick)];
      return placed(x, y, ...drawn, ...top);
    });
  });
  const heads = columns.map((name, c) =>
    text(LEFT + c * (CELL.width + GAP), TOP - 18, cut(name, CELL.width, 14), { size: 14, bold: true }),
  );
  const sides = rows.map((name, r) =>
    text(16, TOP + r * (CELL.height + GAP) + CELL.height / 2, cut(name, LEFT - 30, 12), { size: 12 }),
  );
  return drawing({ width, height }, title, [
    text(16, 34, cut(title, width - 32, 18), { size: 18, bold: true }),
    text(16, 56, cut(subtitle ?? '', width - 32, 12), { size: 12, colour: INKS.faint }),
    ...heads,
    ...sides,
    ...panels,
  ]);
}

function bars(cell: ArrayLike<number>, most: number, colour: string, { nameOf = String }: BarGrid): Mark[] {
  const step = CELL.width / cell.length;
  const tall = (value: number) => (value / most) * (CELL.height - 14);
  const rects = Array.from(cell, (value, k) => ({ k, height: tall(value) }))
    .filter(({ height }) => height > 0)
    .map(({ k, height }) => {
      const width = Math.max(0.8, 0.8 * step);
      return mark('rect', { x: k * step, y: CELL.height - height, width, height, fill: colour });
    });
  const top = Array.from(cell, (value, k) => ({ value, k }))
    .filter(({ value }) => value > 0)
    .sort((a, b) => b.value - a.value)
    .slice(0, named);
  const style = { size: 9, anchor: 'middle' } as const;
  const names = apart(top, step).map(({ value, k }) =>
    text((k + 0.4) * step, CELL.height - tall(value) - 3, cut(nameOf(k), 70, 9), style),
  );
  const floor = mark('path', { d: `M0 ${CELL.height}h${CELL.width}`, stroke: '#9aa5b1' });
  return [floor, ...rects, ...names];
}

/** Those whose names would not cover the one of a higher bar. */
function apart<T extends { k: number }>(top: readonly T[], step: number): T[] {
  const kept: T[] = [];
  for (const one of top) if (kept.every(({ k }) => Math.abs(k - one.k) * step > 22)) kept.push(one);
  return kept;
}
