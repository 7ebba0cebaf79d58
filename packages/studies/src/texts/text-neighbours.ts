/** Walks of texts with how much each step tells. N texts, L steps, K symbols. */
export interface WeightedWalks {
  /** [N, L] */
  walks: ArrayLike<number>;
  /** At least 0. [N, L] */
  weights: Float32Array;
  symbols: number;
  length: number;
}

/** Texts on either side that are looked at in each order. */
const WINDOW = 12;
/** Steps by which texts are put in order, first the most important: texts that begin alike come together. */
const ORDERS: readonly (readonly number[])[] = [
  [0, 1, 2],
  [1, 0, 2],
  [0, 2, 1],
];

/**
 * Like texts of each text: those whose walks lie nearest among the ones beside it in several orders of walks, so that
 * the time grows with N·log N. Returns [N, count], −1 where there are fewer.
 */
export function likeTexts(walked: WeightedWalks, count: number): Int32Array {
  const texts = walked.walks.length / walked.length;
  const alike = likeness(walked);
  const best = bestOf(texts, count);
  for (const steps of ORDERS) {
    const order = inOrder(walked, steps);
    for (let at = 0; at < texts; at++) {
      const n = order[at]!;
      const end = Math.min(texts, at + WINDOW + 1);
      for (let other = at + 1; other < end; other++) {
        const m = order[other]!;
        const value = alike(n, m);
        best.offer(n, m, value);
        best.offer(m, n, value);
      }
    }
  }
  return best.found;
}

/** How alike two symbols are: the cosine of how much each text tells of them. [K, K] */
export function symbolLikeness({ walks, weights, symbols, length }: WeightedWalks): Float64Array {
  const together = new Float64Array(symbols * symbols);
  for (let start = 0; start < walks.length; start += length) {
    for (let i = start; i < start + length; i++) {
      const row = walks[i]! * symbols;
      for (let j = start; j < start + length; j++) together[row + walks[j]!]! += weights[i]! * weights[j]!;
    }
  }
  const norms = Array.from({ length: symbols }, (_, k) => Math.sqrt(together[k * symbols + k]!) || 1);
  return together.map((sum, at) => sum / (norms[Math.floor(at / symbols)]! * norms[at % symbols]!));
}

/** The cosine of two texts' weights over symbols, where like symbols count as far as they are alike. */
function likeness(walked: WeightedWalks): (n: number, m: number) => number {
  const { walks, weights, symbols, length } = walked;
  const alike = symbolLikeness(walked);
  const product = (n: number, m: number): number => {
    let sum = 0;
    for (let i = n * length; i < (n + 1) * length; i++) {
      const row = walks[i]! * symbols;
      let part = 0;
      for (let j = m * length; j < (m + 1) * length; j++) part += weights[j]! * alike[row + walks[j]!]!;
      sum += weights[i]! * part;
    }
    return sum;
  };
  const texts = walks.length / length;
  const norms = Float64Array.from({ length: texts }, (_, n) => Math.sqrt(product(n, n)) || 1);
  return (n, m) => product(n, m) / (norms[n]! * norms[m]!);
}

/** Texts by the symbols at some steps; those alike in these by how much their first step tells. */
function inOrder({ walks, weights, symbols, length }: WeightedWalks, steps: readonly number[]): Uint32Array {
  const texts = walks.length / length;
  const keys = new Float64Array(texts);
  for (let n = 0; n < texts; n++) {
    const start = n * length;
    const key = steps.reduce((sum, step) => sum * symbols + (step < length ? walks[start + step]! : 0), 0);
    let all = 1e-9;
    for (let at = start; at < start + length; at++) all += weights[at]!;
    keys[n] = key + 0.99 * (weights[start]! / all);
  }
  return Uint32Array.from({ length: texts }, (_, n) => n).sort((a, b) => keys[a]! - keys[b]! || a - b);
}

/** The best few of each, best first. */
function bestOf(texts: number, count: number) {
  const found = new Int32Array(texts * count).fill(-1);
  const values = new Float32Array(texts * count).fill(-1);
  const offer = (n: number, m: number, value: number): void => {
    const start = n * count;
    let at = start + count - 1;
    if (value <= values[at]!) return;
    for (let known = start; known <= at; known++) if (found[known] === m) return;
    for (; at > start && values[at - 1]! < value; at--) {
      values[at] = values[at - 1]!;
      found[at] = found[at - 1]!;
    }
    values[at] = value;
    found[at] = m;
  };
  return { found, offer };
}
