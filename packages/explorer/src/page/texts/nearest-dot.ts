const CELLS = 128;
type Pair = readonly [x: number, y: number];

/** Finds the text nearest to a place, by cells of a grid. */
export class NearestDot {
  readonly #places: Float32Array;
  /** Where each cell's texts begin in `order`. */
  readonly #starts = new Uint32Array(CELLS * CELLS + 1);
  readonly #order: Uint32Array;

  constructor(places: Float32Array) {
    this.#places = places;
    const count = places.length / 2;
    for (let n = 0; n < count; n++) this.#starts[this.#cell(n) + 1]!++;
    for (let cell = 0; cell < CELLS * CELLS; cell++) this.#starts[cell + 1]! += this.#starts[cell]!;
    const next = this.#starts.slice();
    this.#order = new Uint32Array(count);
    for (let n = 0; n < count; n++) this.#order[next[this.#cell(n)]!++] = n;
  }

  /** The selected text nearest to a place, within what reaches so far to either side; null where there is none. */
  find([x, y]: Pair, [wide, high]: Pair, selected: Uint8Array): number | null {
    let best: number | null = null;
    let nearest = 1;
    const [left, right, top, bottom] = [x - wide, x + wide, y - high, y + high].map(cellAt) as [
      ...[number, number, number, number],
    ];
    for (let row = top; row <= bottom; row++) {
      const from = this.#starts[row * CELLS + left]!;
      const to = this.#starts[row * CELLS + right + 1]!;
      for (let at = from; at < to; at++) {
        const n = this.#order[at]!;
        const dx = (this.#places[2 * n]! - x) / wide;
        const dy = (this.#places[2 * n + 1]! - y) / high;
        const distance = dx * dx + dy * dy;
        if (selected[n] === 0 || distance > nearest) continue;
        best = n;
        nearest = distance;
      }
    }
    return best;
  }

  #cell(n: number): number {
    return cellAt(this.#places[2 * n + 1]!) * CELLS + cellAt(this.#places[2 * n]!);
  }
}

const cellAt = (value: number): number => Math.max(0, Math.min(CELLS - 1, Math.floor(value * CELLS)));
