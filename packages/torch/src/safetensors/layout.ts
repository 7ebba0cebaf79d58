import type { DType } from '../dtype.ts';

/** The longest header the format allows, in bytes. */
export const maxHeaderBytes = 100_000_000;
export const maxTensors = 1_000_000;
export const maxMetadataEntries = 100_000;
/** libtorch's element-wise kernels take at most this many dimensions. */
export const maxDimensions = 64;

const pairs: readonly (readonly [string, DType])[] = [
  ['F64', 'float64'],
  ['F32', 'float32'],
  ['F16', 'float16'],
  ['BF16', 'bfloat16'],
  ['I64', 'int64'],
  ['I32', 'int32'],
  ['I16', 'int16'],
  ['I8', 'int8'],
  ['U8', 'uint8'],
  ['BOOL', 'bool'],
];

/** The format's element types, and ours. */
export const dtypeOfName: ReadonlyMap<string, DType> = new Map(pairs);
export const nameOfDtype: ReadonlyMap<DType, string> = new Map(pairs.map(([name, dtype]) => [dtype, name]));

/** Bytes of a tensor, or undefined where libtorch's arithmetic on sizes and strides would overflow. */
export function byteLength(shape: readonly number[], elementBytes: number): number | undefined {
  let strides = elementBytes;
  let empty = false;
  for (const size of shape) {
    if (size === 0) empty = true;
    strides *= Math.max(size, 1);
    // Exact below 2^53; a product that rounded is above it in any case.
    if (strides > Number.MAX_SAFE_INTEGER) return undefined;
  }
  return empty ? 0 : strides;
}
