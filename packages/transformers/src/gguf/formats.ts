import type { Fail } from '../protobuf.ts';

/** Turns one block, which starts at a byte of `from`, into numbers behind a place of `into`. */
type Dequantise = (from: DataView, at: number, into: Float32Array, to: number) => void;

/** How a tensor's numbers are stored: in blocks of so many numbers and bytes. */
export interface BlockFormat {
  readonly name: string;
  readonly block: number;
  readonly bytes: number;
  readonly dequantise: Dequantise;
  /** The type of numbers that are stored as they are and need no conversion. */
  readonly asStored?: 'float32' | 'float16' | 'bfloat16';
}

// Numbers are rounded to float32 where a program in float32 would round them, so that both agree to the last bit.
const round = Math.fround;

/** A number of 16 bits: sign, 5 bits of exponent, 10 of fraction. */
function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

const halfAt = (from: DataView, at: number): number => half(from.getUint16(at, true));

const f32: Dequantise = (from, at, into, to) => {
  into[to] = from.getFloat32(at, true);
};
const f16: Dequantise = (from, at, into, to) => {
  into[to] = halfAt(from, at);
};
const bits = new DataView(new ArrayBuffer(4));
/** The upper half of a float32. */
const bf16: Dequantise = (from, at, into, to) => {
  bits.setUint32(0, from.getUint16(at, true) << 16);
  into[to] = bits.getFloat32(0);
};

/**
 * Blocks of 32 numbers: d·q + m, or d·q with q from the middle of what it can be where there is no m. q has 4 bits, or 5 of
 * which the fifth ones lie together, that of number j at bit j.
 */
function pairs({ fifths = false, lows = false }): Dequantise {
  const middle = fifths ? 16 : 8;
  return (from, at, into, to) => {
    const d = halfAt(from, at);
    const m = lows ? halfAt(from, at + 2) : 0;
    const above = at + (lows ? 4 : 2);
    const high = fifths ? from.getUint32(above, true) : 0;
    for (let j = 0; j < 32; j++) {
      const pair = from.getUint8(above + (fifths ? 4 : 0) + (j & 15));
      const q = (j < 16 ? pair & 15 : pair >> 4) | (((high >>> j) & 1) << 4);
      into[to + j] = lows ? round(d * q) + m : d * (q - middle);
    }
  };
}

/** d·q, q of 8 bits with a sign. */
function q8_0(from: DataView, at: number, into: Float32Array, to: number): void {
  const d = halfAt(from, at);
  for (let j = 0; j < 32; j++) into[to + j] = d * from.getInt8(at + 2 + j);
}

// Super-blocks of 256 numbers: sub-blocks of 16 or 32 have scales (and lowest values) that are themselves quantised,
// under one d (and dmin). Bytes that hold several small numbers are called by what they hold.

/** d·s·q − dmin·l: q of 2 bits, s and l of 4 for each 16 numbers. Scales, quants, d, dmin. */
function q2_K(from: DataView, at: number, into: Float32Array, to: number): void {
  const d = halfAt(from, at + 80);
  const lowest = halfAt(from, at + 82);
  for (let sub = 0; sub < 16; sub++) {
    const both = from.getUint8(at + sub);
    const scale = round(d * (both & 15));
    const low = round(lowest * (both >> 4));
    const { byte, shift } = twoBits(sub);
    for (let j = 0; j < 16; j++) {
      const q = (from.getUint8(at + 16 + byte + j) >> shift) & 3;
      into[to + 16 * sub + j] = round(scale * q) - low;
    }
  }
}

/** Where the two-bit numbers of a sub-block of 16 lie: four planes of 32 numbers share 32 bytes. */
function twoBits(sub: number): { byte: number; shift: number } {
  return { byte: 32 * (sub >> 3) + 16 * (sub & 1), shift: 2 * ((sub >> 1) & 3) };
}

/** d·(s − 32)·(q − 4): q of 3 bits, s of 6 for each 16 numbers. Third bits, quants, scales, d. */
function q3_K(from: DataView, at: number, into: Float32Array, to: number): void {
  const d = halfAt(from, at + 108);
  for (let sub = 0; sub < 16; sub++) {
    const scale = round(d * (sixBits(from, at + 96, sub) - 32));
    const { byte, shift } = twoBits(sub);
    for (let j = 0; j < 16; j++) {
      const low = (from.getUint8(at + 32 + byte + j) >> shift) & 3;
      const third = (from.getUint8(at + 16 * (sub & 1) + j) >> (sub >> 1)) & 1;
      into[to + 16 * sub + j] = scale * (low + 4 * third - 4);
    }
  }
}

/** Scale `sub` of 16 in 12 bytes: four bits in the first eight bytes, two in the last four. */
function sixBits(from: DataView, at: number, sub: number): number {
  const low = from.getUint8(at + (sub & 7)) >> (sub < 8 ? 0 : 4);
  const high = from.getUint8(at + 8 + (sub & 3)) >> (2 * (sub >> 2));
  return (low & 15) | ((high & 3) << 4);
}

/** Scale and lowest value, 6 bits each, of sub-block `sub` of 8 in 12 bytes. */
function scaleAndLow(from: DataView, at: number, sub: number): [scale: number, low: number] {
  const byte = (i: number): number => from.getUint8(at + i);
  if (sub < 4) return [byte(sub) & 63, byte(sub + 4) & 63];
  return [(byte(sub + 4) & 15) | ((byte(sub - 4) >> 6) << 4), (byte(sub + 4) >> 4) | ((byte(sub) >> 6) << 4)];
}

/** d·s·q − dmin·l: q of 4 bits, s and l of 6 for each 32 numbers. d, dmin, scales, quants. */
const q4_K: Dequantise = (from, at, into, to) =>
  fourBitsAndMore(from, at, { quants: at + 16 }, into.subarray(to));

/** The same with fifth bits before the quants. */
const q5_K: Dequantise = (from, at, into, to) =>
  fourBitsAndMore(from, at, { quants: at + 48, fifths: at + 16 }, into.subarray(to));

function fourBitsAndMore(
  from: DataView,
  at: number,
  { quants, fifths }: { quants: number; fifths?: number },
  into: Float32Array,
): void {
  const d = halfAt(from, at);
  const lowest = halfAt(from, at + 2);
  for (let sub = 0; sub < 8; sub++) {
    const [s, l] = scaleAndLow(from, at + 4, sub);
    const scale = round(d * s);
    const low = round(lowest * l);
    for (let j = 0; j < 32; j++) {
      const nibble = (from.getUint8(quants + 32 * (sub >> 1) + j) >> (4 * (sub & 1))) & 15;
      const fifth = fifths === undefined ? 0 : (from.getUint8(fifths + j) >> sub) & 1;
      into[32 * sub + j] = round(scale * (nibble + 16 * fifth)) - low;
    }
  }
}

/** d·s·(q − 32): q of 6 bits, s of 8 with a sign for each 16 numbers. Low four bits, high two, scales, d. */
function q6_K(from: DataView, at: number, into: Float32Array, to: number): void {
  const d = halfAt(from, at + 208);
  for (let sub = 0; sub < 16; sub++) {
    const scale = round(d * from.getInt8(at + 192 + sub));
    const [side, plane, first] = [sub >> 3, (sub >> 1) & 3, 16 * (sub & 1)];
    const lows = at + 64 * side + 32 * (plane & 1) + first;
    const highs = at + 128 + 32 * side + first;
    for (let j = 0; j < 16; j++) {
      const low = (from.getUint8(lows + j) >> (plane < 2 ? 0 : 4)) & 15;
      const high = (from.getUint8(highs + j) >> (2 * plane)) & 3;
      into[to + 16 * sub + j] = scale * ((low | (high << 4)) - 32);
    }
  }
}

/** By the number that a file has for them. */
const formats: ReadonlyMap<number, BlockFormat> = new Map([
  [0, { name: 'F32', block: 1, bytes: 4, dequantise: f32, asStored: 'float32' }],
  [1, { name: 'F16', block: 1, bytes: 2, dequantise: f16, asStored: 'float16' }],
  [30, { name: 'BF16', block: 1, bytes: 2, dequantise: bf16, asStored: 'bfloat16' }],
  [2, { name: 'Q4_0', block: 32, bytes: 18, dequantise: pairs({}) }],
  [3, { name: 'Q4_1', block: 32, bytes: 20, dequantise: pairs({ lows: true }) }],
  [6, { name: 'Q5_0', block: 32, bytes: 22, dequantise: pairs({ fifths: true }) }],
  [7, { name: 'Q5_1', block: 32, bytes: 24, dequantise: pairs({ fifths: true, lows: true }) }],
  [8, { name: 'Q8_0', block: 32, bytes: 34, dequantise: q8_0 }],
  [10, { name: 'Q2_K', block: 256, bytes: 84, dequantise: q2_K }],
  [11, { name: 'Q3_K', block: 256, bytes: 110, dequantise: q3_K }],
  [12, { name: 'Q4_K', block: 256, bytes: 144, dequantise: q4_K }],
  [13, { name: 'Q5_K', block: 256, bytes: 176, dequantise: q5_K }],
  [14, { name: 'Q6_K', block: 256, bytes: 210, dequantise: q6_K }],
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
