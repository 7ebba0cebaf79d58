import type { Answer } from './api.ts';

/** One quantity over steps, or over the graph's sweeps before them. */
export type Curve = NonNullable<Answer<'curves'>['curves']>[number];

type Row = Readonly<Record<string, number | null>>;
type Point = readonly [x: number, y: number];

const axes = new Set(['step', 'epoch', 'time', 'sweep']);
/** Spans that a curve is cut into: more than a chart has dots from left to right. */
const MOST_SPANS = 1000;

/** Every quantity that was logged as a curve; a long one keeps the lowest and highest point of each span, and the last. */
export class Curves {
  readonly #all = new Map<string, ThinnedCurve>();

  add(row: Row): void {
    // Rows of sweeps have an axis of their own.
    const axis = typeof row.sweep === 'number' ? 'sweep' : 'step';
    const x = row[axis];
    if (typeof x !== 'number') return;
    for (const [name, y] of Object.entries(row)) {
      if (axes.has(name) || y === null || !Number.isFinite(y)) continue;
      const key = `${axis} ${name}`;
      if (!this.#all.has(key)) this.#all.set(key, new ThinnedCurve(name, axis));
      this.#all.get(key)!.add([x, y]);
    }
  }

  clear(): void {
    this.#all.clear();
  }

  list(): Curve[] {
    const order = (curve: Curve) => (curve.axis === 'sweep' ? 1 : 0);
    return [...this.#all.values()].map((one) => one.curve()).sort((a, b) => order(a) - order(b));
  }
}

class ThinnedCurve {
  readonly #name: string;
  readonly #axis: Curve['axis'];
  /** Lowest and highest point of each span. */
  #spans: { low: Point; high: Point }[] = [];
  /** Points that make a span, and how many the last one has. */
  #width = 1;
  #filled = 1;
  #last: Point = [0, 0];

  constructor(name: string, axis: Curve['axis']) {
    this.#name = name;
    this.#axis = axis;
  }

  add(point: Point): void {
    this.#last = point;
    const open = this.#spans.at(-1);
    if (open && this.#filled < this.#width) {
      this.#filled++;
      if (point[1] < open.low[1]) open.low = point;
      if (point[1] > open.high[1]) open.high = point;
      return;
    }
    this.#spans.push({ low: point, high: point });
    this.#filled = 1;
    if (this.#spans.length === 2 * MOST_SPANS) this.#halve();
  }

  curve(): Curve {
    const points = this.#spans.flatMap(({ low, high }) => {
      if (low === high) return [low];
      return low[0] <= high[0] ? [low, high] : [high, low];
    });
    if (points.at(-1) !== this.#last) points.push(this.#last);
    return { name: this.#name, axis: this.#axis, x: points.map(([x]) => x), y: points.map(([, y]) => y) };
  }

  #halve(): void {
    const pairs = Array.from({ length: MOST_SPANS }, (_, at) => this.#spans.slice(2 * at, 2 * at + 2));
    this.#spans = pairs.map(([a, b]) => ({
      low: a!.low[1] <= b!.low[1] ? a!.low : b!.low,
      high: a!.high[1] >= b!.high[1] ? a!.high : b!.high,
    }));
    // The last span is whole: the next point opens another.
    this.#width *= 2;
    this.#filled = this.#width;
  }
}
