import { logGamma } from '@hidden-schema/hsn/gamma';
import { type Contingency, contingency, entropyOfCounts, type Labelling } from './contingency.ts';

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
  const lnFactorial = lnFactorials(N);
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

function lnFactorials(N: number): Float64Array {
  return Float64Array.from({ length: N + 1 }, (_, n) => logGamma(n + 1));
}

/** Pairs of items together in both against what chance would put together (Hubert & Arabie 1985). */
function adjustedRand({ items, cells, rows, columns }: Contingency): number {
  const pairs = (counts: Iterable<number>) => {
    let sum = 0;
    for (const count of counts) sum += (count * (count - 1)) / 2;
    return sum;
  };
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
