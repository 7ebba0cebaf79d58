import type { FileSum } from '@hidden-schema/base';
import type { SplitName } from '@hidden-schema/hsn';

/** Layout of `analysis/encoded.*`; a later one gets another number. */
export const ENCODED_FORMAT = 1;

/** `encoded.json`: what the other two files hold, written last. */
export interface EncodedManifest {
  format: number;
  /** The run's identity, so that one made anew or edited is not taken for the old. */
  created: string;
  step: number;
  symbols: number;
  length: number;
  /** Sentences here, and in the corpus. */
  count: number;
  total: number;
  labels: readonly string[];
  /** Sums of the other two, so that parts of two readings are never taken for one; none before 0.3. */
  files?: Readonly<Record<'jsonl' | 'bin', FileSum>>;
}

/** A line of `encoded.jsonl`. */
export interface StoredSentence {
  text: string;
  label: string | null;
  split: SplitName;
  walk: number[];
  steps: number[];
  /** How much of the text each step tells, where the model says. */
  weights?: number[];
}

/** Places in `encoded.bin`: where each line begins (and the last ends), the walks, the labels. */
export function layoutOf(count: number, length: number) {
  const offsets = 0;
  const walks = 8 * (count + 1);
  const labels = walks + 2 * count * length;
  return { offsets, walks, labels, bytes: labels + 2 * count };
}

/** A copy of its own, since a typed array begins at a multiple of its size. */
export function bytesAt(table: Buffer, start: number, size: number): ArrayBuffer {
  return Uint8Array.from(table.subarray(start, start + size)).buffer;
}
