import { call, callMany, cat, type Tensor } from '@hidden-schema/torch';

/** Above this many it is quicker to sort than to look for one after the other. */
const mostOneByOne = 8;

/** The `count` largest of each row, or all where it has fewer, the largest first: libtorch's topk takes twice as long for a few, ten times for one. [n, m] → [n, count] */
export function highest(rows: Tensor, count: number): { values: Tensor; indices: Tensor } {
  const most = Math.min(count, rows.dim(1));
  if (most > mostOneByOne) return rows.topk(most, 1);
  const found: [values: Tensor, indices: Tensor][] = [];
  for (let rest = rows; ; rest = call('scatter.value', rest, 1, found.at(-1)![1], Number.NEGATIVE_INFINITY)) {
    found.push(callMany('max.dim', rest, 1, true) as [Tensor, Tensor]);
    if (found.length === most) break;
  }
  if (most === 1) return { values: found[0]![0], indices: found[0]![1] };
  const [values, indices] = [0, 1].map((part) =>
    cat(
      found.map((one) => one[part]!),
      1,
    ),
  ) as [Tensor, Tensor];
  return { values, indices };
}
