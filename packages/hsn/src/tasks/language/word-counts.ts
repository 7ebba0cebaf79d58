import type { TokenStore } from '@hidden-schema/text';
import { Tensor } from '@hidden-schema/torch';

/** The most frequent tokens that are counted: rarer ones say little and cost much. */
const most = 4000;

/** How often each sentence has each of the decoder's most frequent tokens. [N, V] */
export function frequentWords(store: TokenStore, rows: Int32Array): Tensor {
  const sentences = Array.from(rows, (row) => store.ids('decoder', store.row(row)));
  const totals = new Map<number, number>();
  for (const ids of sentences) for (const id of ids) totals.set(id, (totals.get(id) ?? 0) + 1);
  const kept = [...totals].sort(([a, m], [b, n]) => n - m || a - b).slice(0, most);
  const place = new Map(kept.map(([id], i) => [id, i]));
  const counts = new Float32Array(rows.length * kept.length);
  for (const [n, ids] of sentences.entries()) {
    for (const id of ids) {
      const at = place.get(id);
      if (at !== undefined) counts[n * kept.length + at]! += 1;
    }
  }
  return Tensor.fromArray(counts, [rows.length, kept.length]);
}
