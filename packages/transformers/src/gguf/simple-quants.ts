// Blocks of 32 numbers with one scale d, and a lowest value m where there is one. Numbers are rounded to float32 where
// a program in float32 would round them, so that both agree to the last bit.

const round = Math.fround;

/** A number of 16 bits: sign, 5 bits of exponent, 10 of fraction. */
export function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

export const halfAt = (from: DataView, at: number): number => half(from.getUint16(at, true));

export function f32(from: DataView, at: number, into: Float32Array, to: number): void {
  into[to] = from.getFloat32(at, true);
}

export function f16(from: DataView, at: number, into: Float32Array, to: number): void {
  into[to] = halfAt(from, at);
}

const bits = new DataView(new ArrayBuffer(4));

/** The upper half of a float32. */
export function bf16(from: DataView, at: number, into: Float32Array, to: number): void {
  bits.setUint32(0, from.getUint16(at, true) << 16);
  into[to] = bits.getFloat32(0);
}

/** d·(q − 8), q of 4 bits. */
export function q4_0(from: DataView, at: number, into: Float32Array, to: number): void {
  const d = halfAt(from, at);
  for (let j = 0; j < 16; j++) {
    const pair = from.getUint8(at + 2 + j);
    into[to + j] = d * ((pair & 15) - 8);
    into[to + 16 + j] = d * ((pair >> 4) - 8);
  }
}

/** d·q + m, q of 4 bits. */
export function q4_1(from: DataView, at: number, into: Float32Array, to: number): void {
  const d = halfAt(from, at);
  const m = halfAt(from, at + 2);
  for (let j = 0; j < 16; j++) {
    const pair = from.getUint8(at + 4 + j);
    into[to + j] = round(d * (pair & 15)) + m;
    into[to + 16 + j] = round(d * (pair >> 4)) + m;
  }
}

/** Fifth bits lie together in `high`, that of number j at bit j. */
const fifth = (high: number, j: number): number => ((high >>> j) & 1) << 4;

/** d·(q − 16), q of 5 bits. */
export function q5_0(from: DataView, at: number, into: Float32Array, to: number): void {
  const d = halfAt(from, at);
  const high = from.getUint32(at + 2, true);
  for (let j = 0; j < 16; j++) {
    const pair = from.getUint8(at + 6 + j);
    into[to + j] = d * (((pair & 15) | fifth(high, j)) - 16);
    into[to + 16 + j] = d * (((pair >> 4) | fifth(high, j + 16)) - 16);
  }
}

/** d·q + m, q of 5 bits. */
export function q5_1(from: DataView, at: number, into: Float32Array, to: number): void {
  const d = halfAt(from, at);
  const m = halfAt(from, at + 2);
  const high = from.getUint32(at + 4, true);
  for (let j = 0; j < 16; j++) {
    const pair = from.getUint8(at + 8 + j);
    into[to + j] = round(d * ((pair & 15) | fifth(high, j))) + m;
    into[to + 16 + j] = round(d * ((pair >> 4) | fifth(high, j + 16))) + m;
  }
}

/** d·q, q of 8 bits with a sign. */
export function q8_0(from: DataView, at: number, into: Float32Array, to: number): void {
  const d = halfAt(from, at);
  for (let j = 0; j < 32; j++) into[to + j] = d * from.getInt8(at + 2 + j);
}
