import { Tensor } from '@hidden-schema/torch';
import type { CorpusSplit } from './corpus/reader.ts';

/** Token numbers of the given rows. [rows, length] int32 */
export function tokensOf(split: CorpusSplit, length: number, rows: Int32Array): Tensor {
  const flat = new Int32Array(rows.length * length);
  for (const [i, row] of rows.entries())
    flat.set(split.tokens.subarray(row * length, (row + 1) * length), i * length);
  return Tensor.fromArray(flat, [rows.length, length]);
}

/** Token numbers of `count` neighbouring sentences from `first` on. */
export function tokensFrom(split: CorpusSplit, length: number, first: number, count: number): Tensor {
  const end = Math.min(split.count, first + count);
  return Tensor.fromArray(split.tokens.slice(first * length, end * length), [end - first, length]);
}
