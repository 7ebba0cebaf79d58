import { createHash } from 'node:crypto';
import { splitmix64 } from '@hidden-schema/base';

/** 64 bits of a text's sha256: equal texts are told by it, and drawn to one split. */
export function textHash(text: string): Uint32Array {
  const digest = createHash('sha256').update(text).digest();
  return Uint32Array.of(digest.readUInt32LE(0), digest.readUInt32LE(4));
}

/** The same as one number, by which rows are joined: equal texts have equal keys. */
export const textKey = (hash: Uint32Array): bigint => (BigInt(hash[1]!) << 32n) | BigInt(hash[0]!);

/** Shares of train, valid and test, in any unit. */
export type SplitShares = readonly [train: number, valid: number, test: number];

export const DEFAULT_SHARES: SplitShares = [80, 10, 10];

/** A number in [0, 1) from a text's hash and the seed: the same text is drawn to the same split wherever it stands. */
export function rowDraw(hash: Uint32Array, seed: number): number {
  return Number(splitmix64(textKey(hash) ^ splitmix64(BigInt(seed) + 1n)) >> 11n) / 2 ** 53;
}

/** Place in TEXT_SPLITS of a draw. */
export function splitOfDraw(draw: number, [train, valid, test]: SplitShares): 0 | 1 | 2 {
  const at = draw * (train + valid + test);
  if (at < train) return 0;
  return at < train + valid ? 1 : 2;
}

const FIRST_SIZE = 1 << 12;

/** A set of 64-bit hashes by open addressing: about 16 bytes a member, so that a million texts fit in 16 MB. */
export class SeenTexts {
  #slots = new Uint32Array(2 * FIRST_SIZE);
  #count = 0;

  /** Whether it was new. */
  add(hash: Uint32Array): boolean {
    // 0, 0 marks a free slot; the one hash in 2^64 that equals it is taken for its neighbour.
    const low = hash[0]! | (hash[0] === 0 && hash[1] === 0 ? 1 : 0);
    if (!insert(this.#slots, low, hash[1]!)) return false;
    if (++this.#count * 4 > this.#slots.length) this.#grow();
    return true;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Uint32Array(2 * old.length);
    for (let at = 0; at < old.length; at += 2)
      if (old[at] !== 0 || old[at + 1] !== 0) insert(this.#slots, old[at]!, old[at + 1]!);
  }
}

function insert(slots: Uint32Array, low: number, high: number): boolean {
  const mask = slots.length / 2 - 1;
  for (let slot = low & mask; ; slot = (slot + 1) & mask) {
    const [a, b] = [slots[2 * slot]!, slots[2 * slot + 1]!];
    if (a === low >>> 0 && b === high) return false;
    if (a !== 0 || b !== 0) continue;
    slots[2 * slot] = low;
    slots[2 * slot + 1] = high;
    return true;
  }
}
