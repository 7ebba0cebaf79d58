import { logGamma } from '@hidden-schema/hsn/gamma';

/** How often each pair of two labellings of the same N items occurs, with both margins. */
type Contingency = ReturnType<typeof contingency>;

export type Labelling = ArrayLike<number | string>;

function contingency(a: Labelling, b: Labelling) {
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

/** How well clusters, such as first symbols, agree with labels; 1 is the same division. */
export interface Agreement {
  /** Normalised mutual information, by the mean of both entropies. */
  readonly nmi: number;
  /** The same above chance: 0 is what random clusters of these sizes have on average. */
  readonly ami: number;
  /** Adjusted Rand index. */
  readonly ari: number;
  /** Share of texts that have the commonest label of their cluster. */
  readonly purity: number;
}

/** Texts in the cluster `outlier` are one cluster, and are all wrong in purity. */
export function agreement(
  labels: Labelling,
  clusters: Labelling,
  { outlier }: { outlier?: number | string } = {},
): Agreement {
  const table = contingency(labels, clusters);
  return {
    nmi: normalised(table, 0),
    ami: adjustedMutualInformation(labels, clusters),
    ari: adjustedRand(table),
    purity: purity(labels, clusters, outlier),
  };
}

/** AMI between two labellings (Vinh, Epps & Bailey 2010); of the first symbols under two seeds it is their stability. */
export function adjustedMutualInformation(a: Labelling, b: Labelling): number {
  const table = contingency(a, b);
  const one = table.rows.length === 1 || table.columns.length === 1;
  return normalised(table, one ? 0 : expectedInformation(table));
}

/** (I − expected) / (mean entropy − expected); two divisions into one part agree fully. */
function normalised(table: Contingency, expected: number): number {
  if (table.rows.length <= 1 && table.columns.length <= 1) return 1;
  const mean = (entropyOfCounts(table.rows) + entropyOfCounts(table.columns)) / 2;
  const information = mutualInformation(table);
  const most = mean - expected;
  // Rounding alone can make the most there is to gain zero or negative.
  const safe = most < 0 ? Math.min(most, -Number.EPSILON) : Math.max(most, Number.EPSILON);
  return (information - expected) / safe;
}

/** I = Σ n_ij / N · ln(N n_ij / (a_i b_j)) */
function mutualInformation({ items, cells, rows, columns }: Contingency): number {
  let sum = 0;
  for (const { row, column, count } of cells)
    sum +=
      (count / items) *
      (Math.log(count) + Math.log(items) - Math.log(rows[row]!) - Math.log(columns[column]!));
  return sum <= Number.EPSILON ? 0 : sum;
}

/** E[I] over all tables with these margins, n_ij being hypergeometric (Vinh, Epps & Bailey 2010, eq. 24a). */
function expectedInformation({ items: N, rows, columns }: Contingency): number {
  const lnFactorial = Float64Array.from({ length: N + 1 }, (_, n) => logGamma(n + 1));
  let sum = 0;
  for (const [a, times] of multiplicities(rows))
    for (const [b, timesToo] of multiplicities(columns))
      sum += times * timesToo * expectedTerm(a, b, N, lnFactorial);
  return sum;
}

function expectedTerm(a: number, b: number, N: number, lnFactorial: Float64Array): number {
  const fixed =
    lnFactorial[a]! + lnFactorial[b]! + lnFactorial[N - a]! + lnFactorial[N - b]! - lnFactorial[N]!;
  let sum = 0;
  for (let n = Math.max(1, a + b - N); n <= Math.min(a, b); n++) {
    const others = lnFactorial[n]! + lnFactorial[a - n]! + lnFactorial[b - n]! + lnFactorial[N - a - b + n]!;
    sum += (n / N) * Math.log((N * n) / (a * b)) * Math.exp(fixed - others);
  }
  return sum;
}

/** Each different size and how often it occurs: many clusters have few sizes. */
function multiplicities(sizes: readonly number[]): Map<number, number> {
  const found = new Map<number, number>();
  for (const size of sizes) found.set(size, (found.get(size) ?? 0) + 1);
  return found;
}

/** Pairs of items together in both against what chance would put together (Hubert & Arabie 1985). */
function adjustedRand({ items, cells, rows, columns }: Contingency): number {
  const pairs = (counts: readonly number[]) =>
    counts.reduce((sum, count) => sum + (count * (count - 1)) / 2, 0);
  const both = pairs(cells.map(({ count }) => count));
  const [left, right] = [pairs(rows), pairs(columns)];
  if (both === left && both === right) return 1;
  const expected = (left * right) / pairs([items]);
  return (both - expected) / ((left + right) / 2 - expected);
}

/** Σ over clusters of the commonest label's count, by N (Manning, Raghavan & Schütze 2008, 16.3). */
function purity(labels: Labelling, clusters: Labelling, outlier?: number | string): number {
  const N = labels.length;
  const inside = Array.from({ length: N }, (_, at) => at).filter((at) => clusters[at] !== outlier);
  const { cells, columns } = contingency(
    inside.map((at) => labels[at]!),
    inside.map((at) => clusters[at]!),
  );
  const most = new Array<number>(columns.length).fill(0);
  for (const { column, count } of cells) most[column] = Math.max(most[column]!, count);
  return N === 0 ? 1 : most.reduce((sum, count) => sum + count, 0) / N;
}

/**
 * How much the same division comes out of each run, as of first symbols under several seeds: for each run the mean AMI
 * with the others; 1 is the same division, 0 is chance. One run alone has nothing to agree with: null.
 */
export function stability(runs: readonly Labelling[]): (number | null)[] {
  const between = runs.map((run, at) =>
    runs.slice(at + 1).map((other) => adjustedMutualInformation(run, other)),
  );
  return runs.map((_, at) => {
    const others = runs.flatMap((_, other) =>
      other === at ? [] : between[Math.min(at, other)]![Math.abs(at - other) - 1]!,
    );
    return others.length === 0 ? null : others.reduce((sum, ami) => sum + ami, 0) / others.length;
  });
}
