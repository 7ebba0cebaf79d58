/** Element types by libtorch's own numbering (c10::ScalarType). */
export const dtypeCodes = {
  uint8: 0,
  int8: 1,
  int16: 2,
  int32: 3,
  int64: 4,
  float16: 5,
  float32: 6,
  float64: 7,
  bool: 11,
  bfloat16: 15,
} as const;

/** The kinds of numbers. */
export type DType = keyof typeof dtypeCodes;

export const dtypeBytes: Record<DType, number> = {
  uint8: 1,
  int8: 1,
  int16: 2,
  int32: 4,
  int64: 8,
  float16: 2,
  float32: 4,
  float64: 8,
  bool: 1,
  bfloat16: 2,
};

const names = new Map<number, DType>(Object.entries(dtypeCodes).map(([name, code]) => [code, name as DType]));

export function dtypeFromCode(code: number): DType {
  const name = names.get(code);
  if (name === undefined)
    throw new TypeError(`libtorch returned element type number ${code}, which has no name here`);
  return name;
}

export type TypedArray =
  | Float32Array
  | Float64Array
  | Int8Array
  | Int16Array
  | Int32Array
  | BigInt64Array
  | Uint8Array;

/** The element type that a typed array's data has in a tensor. */
export function dtypeOfArray(data: TypedArray): DType {
  if (data instanceof Float32Array) return 'float32';
  if (data instanceof Float64Array) return 'float64';
  if (data instanceof Int32Array) return 'int32';
  if (data instanceof BigInt64Array) return 'int64';
  if (data instanceof Int8Array) return 'int8';
  if (data instanceof Int16Array) return 'int16';
  return 'uint8';
}

/** A tensor's bytes as the typed array of its element type; of booleans as 0 and 1. */
export function arrayOfDtype(bytes: ArrayBuffer, dtype: DType): TypedArray {
  if (dtype === 'float32') return new Float32Array(bytes);
  if (dtype === 'float64') return new Float64Array(bytes);
  if (dtype === 'int64') return new BigInt64Array(bytes);
  if (dtype === 'int32') return new Int32Array(bytes);
  if (dtype === 'int16') return new Int16Array(bytes);
  if (dtype === 'int8') return new Int8Array(bytes);
  return new Uint8Array(bytes);
}
