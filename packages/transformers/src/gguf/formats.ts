import type { Fail } from './bytes.ts';
import * as k from './k-quants.ts';
import * as plain from './simple-quants.ts';

/** Turns one block, which starts at a byte of `from`, into numbers behind a place of `into`. */
export type Dequantise = (from: DataView, at: number, into: Float32Array, to: number) => void;

/** How a tensor's numbers are stored: in blocks of so many numbers and bytes. */
export interface BlockFormat {
  readonly name: string;
  readonly block: number;
  readonly bytes: number;
  readonly dequantise: Dequantise;
  /** The type of numbers that are stored as they are and need no conversion. */
  readonly asStored?: 'float32' | 'float16' | 'bfloat16';
}

/** By the number that a file has for them. */
const formats: ReadonlyMap<number, BlockFormat> = new Map([
  [0, { name: 'F32', block: 1, bytes: 4, dequantise: plain.f32, asStored: 'float32' }],
  [1, { name: 'F16', block: 1, bytes: 2, dequantise: plain.f16, asStored: 'float16' }],
  [30, { name: 'BF16', block: 1, bytes: 2, dequantise: plain.bf16, asStored: 'bfloat16' }],
  [2, { name: 'Q4_0', block: 32, bytes: 18, dequantise: plain.q4_0 }],
  [3, { name: 'Q4_1', block: 32, bytes: 20, dequantise: plain.q4_1 }],
  [6, { name: 'Q5_0', block: 32, bytes: 22, dequantise: plain.q5_0 }],
  [7, { name: 'Q5_1', block: 32, bytes: 24, dequantise: plain.q5_1 }],
  [8, { name: 'Q8_0', block: 32, bytes: 34, dequantise: plain.q8_0 }],
  [10, { name: 'Q2_K', block: 256, bytes: 84, dequantise: k.q2_K }],
  [11, { name: 'Q3_K', block: 256, bytes: 110, dequantise: k.q3_K }],
  [12, { name: 'Q4_K', block: 256, bytes: 144, dequantise: k.q4_K }],
  [13, { name: 'Q5_K', block: 256, bytes: 176, dequantise: k.q5_K }],
  [14, { name: 'Q6_K', block: 256, bytes: 210, dequantise: k.q6_K }],
]);

export function blockFormat(type: number, what: string, fail: Fail): BlockFormat {
  const known = [...formats.values()].map(({ name }) => name).join(', ');
  return (
    formats.get(type) ??
    fail(`${what} is stored as type ${type}; ${known} can be read, so quantise it to one of these`)
  );
}

/** The numbers of whole blocks. */
export function dequantised({ block, bytes, dequantise }: BlockFormat, stored: Uint8Array): Float32Array {
  const view = new DataView(stored.buffer, stored.byteOffset, stored.byteLength);
  const count = stored.byteLength / bytes;
  const numbers = new Float32Array(count * block);
  for (let i = 0; i < count; i++) dequantise(view, i * bytes, numbers, i * block);
  return numbers;
}
