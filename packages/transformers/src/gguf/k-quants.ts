import { halfAt } from './simple-quants.ts';

// Super-blocks of 256 numbers: sub-blocks of 16 or 32 have scales (and lowest values) that are themselves quantised,
// under one d (and dmin). Bytes that hold several small numbers are called by what they hold.

const round = Math.fround;

/** d·s·q − dmin·l: q of 2 bits, s and l of 4 for each 16 numbers. Scales, quants, d, dmin. */
export function q2_K(from: DataView, at: number, into: Float32Array, to: number): void {
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
export function q3_K(from: DataView, at: number, into: Float32Array, to: number): void {
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
export function q4_K(from: DataView, at: number, into: Float32Array, to: number): void {
  fourBitsAndMore(from, at, { quants: at + 16 }, into.subarray(to));
}

/** The same with fifth bits before the quants. */
export function q5_K(from: DataView, at: number, into: Float32Array, to: number): void {
  fourBitsAndMore(from, at, { quants: at + 48, fifths: at + 16 }, into.subarray(to));
}

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
export function q6_K(from: DataView, at: number, into: Float32Array, to: number): void {
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
