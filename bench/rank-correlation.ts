/** Spearman's ρ: the correlation of ranks, equal values sharing the mean of theirs; null where one side is constant. */
export function spearman(a: readonly number[], b: readonly number[]): number | null {
  if (a.length !== b.length)
    throw new RangeError(`as many values on both sides are expected, got ${a.length} and ${b.length}`);
  const [x, y] = [centredRanks(a), centredRanks(b)];
  const sum = (f: (at: number) => number) => x.reduce((total, _, at) => total + f(at), 0);
  const squares = sum((at) => x[at]! ** 2) * sum((at) => y[at]! ** 2);
  return squares > 0 ? sum((at) => x[at]! * y[at]!) / Math.sqrt(squares) : null;
}

/** Ranks less their mean. */
function centredRanks(values: readonly number[]): number[] {
  const order = Array.from(values.keys()).sort((i, j) => values[i]! - values[j]!);
  const ranks = new Array<number>(values.length);
  for (let first = 0; first < order.length; ) {
    let end = first + 1;
    while (end < order.length && values[order[end]!] === values[order[first]!]) end++;
    for (const at of order.slice(first, end)) ranks[at] = (first + end - 1) / 2 - (order.length - 1) / 2;
    first = end;
  }
  return ranks;
}
