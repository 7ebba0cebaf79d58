export type Row = Record<string, number | null>;

/** One quantity over steps, or over the graph's sweeps before them. */
export interface Curve {
  name: string;
  axis: 'step' | 'sweep';
  x: number[];
  y: number[];
}

const axes = new Set(['step', 'epoch', 'time', 'sweep']);

/** Every quantity that was logged as a curve; rows of sweeps have an axis of their own. */
export function curvesOf(rows: readonly Row[]): Curve[] {
  const curves = new Map<string, Curve>();
  for (const row of rows) {
    const axis = typeof row.sweep === 'number' ? 'sweep' : 'step';
    const x = row[axis];
    for (const [name, y] of Object.entries(row)) {
      if (axes.has(name) || y === null || typeof x !== 'number') continue;
      const key = `${axis} ${name}`;
      if (!curves.has(key)) curves.set(key, { name, axis, x: [], y: [] });
      const curve = curves.get(key)!;
      curve.x.push(x);
      curve.y.push(y);
    }
  }
  const order = (curve: Curve) => (curve.axis === 'sweep' ? 1 : 0);
  return [...curves.values()].sort((a, b) => order(a) - order(b));
}
