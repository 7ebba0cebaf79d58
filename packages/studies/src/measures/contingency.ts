/** How often each pair of two labellings of the same N items occurs, with both margins. */
export interface Contingency {
  readonly items: number;
  readonly cells: readonly { readonly row: number; readonly column: number; readonly count: number }[];
  readonly rows: readonly number[];
  readonly columns: readonly number[];
}

export type Labelling = ArrayLike<number | string>;

export function contingency(a: Labelling, b: Labelling): Contingency {
  if (a.length !== b.length)
    throw new RangeError(
      `two labellings of the same items are expected, got ${a.length} and ${b.length} labels`,
    );
  const [left, right] = [numbered(a), numbered(b)];
  const rows = new Array<number>(left.count).fill(0);
  const columns = new Array<number>(right.count).fill(0);
  const counts = new Map<number, number>();
  for (let at = 0; at < a.length; at++) {
    const [row, column] = [left.numbers[at]!, right.numbers[at]!];
    rows[row]!++;
    columns[column]!++;
    const cell = row * right.count + column;
    counts.set(cell, (counts.get(cell) ?? 0) + 1);
  }
  const cells = Array.from(counts, ([cell, count]) => ({
    row: Math.floor(cell / right.count),
    column: cell % right.count,
    count,
  }));
  return { items: a.length, cells, rows, columns };
}

/** Labels as numbers from 0, by first appearance. */
export function numbered(labels: Labelling): { numbers: Uint32Array; count: number } {
  const known = new Map<number | string, number>();
  const numbers = new Uint32Array(labels.length);
  for (let at = 0; at < labels.length; at++) {
    const label = labels[at]!;
    const number = known.get(label) ?? known.size;
    known.set(label, number);
    numbers[at] = number;
  }
  return { numbers, count: known.size };
}

/** −Σ p ln p of counts, in nats. */
export function entropyOfCounts(counts: Iterable<number>): number {
  let [total, sum] = [0, 0];
  for (const count of counts) {
    if (count === 0) continue;
    total += count;
    sum += count * Math.log(count);
  }
  return total === 0 ? 0 : Math.max(0, Math.log(total) - sum / total);
}
