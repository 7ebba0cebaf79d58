import { UserError } from './errors.ts';

const MASK = (1n << 64n) - 1n;

/** One splitmix64 output for a 64-bit position; spreads near-by seeds far apart. */
export function splitmix64(position: bigint): bigint {
  let z = position & MASK;
  z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
  z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK;
  return z ^ (z >> 31n);
}

const GAMMA = 0x9e3779b97f4a7c15n;
const rotate = (x: number, bits: number) => (x << bits) | (x >>> (32 - bits));

type Sequence<T> = { readonly length: number; [index: number]: T };

/** Seeded generator (xoshiro128**), handed down explicitly; `stream` gives independent sequences of one seed. */
export class Random {
  readonly #s = new Uint32Array(4);

  constructor(seed: number, stream = 0) {
    for (const [name, value] of Object.entries({ seed, stream })) {
      if (!Number.isSafeInteger(value) || value < 0) {
        throw new UserError(`${name} must be a whole number from 0 to 2^53 - 1, got ${value}`);
      }
    }
    let position = BigInt(seed);
    // Hashing the stream before it is added keeps (seed, stream) pairs from meeting.
    if (stream > 0) position = splitmix64(position + GAMMA) ^ splitmix64(~BigInt(stream));
    for (let half = 0; half < 2; half++) {
      position += GAMMA;
      const word = splitmix64(position);
      this.#s[2 * half] = Number(word & 0xffffffffn);
      this.#s[2 * half + 1] = Number(word >> 32n);
    }
  }

  /** 32 random bits as an unsigned integer. */
  bits(): number {
    const s = this.#s;
    const s1 = s[1]!;
    const result = Math.imul(rotate(Math.imul(s1, 5), 7), 9) >>> 0;
    s[2]! ^= s[0]!;
    s[3]! ^= s1;
    s[1]! ^= s[2]!;
    s[0]! ^= s[3]!;
    s[2]! ^= s1 << 9;
    s[3] = rotate(s[3]!, 11);
    return result;
  }

  /** Uniform in [0, 1) with 53 bits. */
  next(): number {
    const high = this.bits() >>> 5;
    const low = this.bits() >>> 6;
    return (high * 0x4000000 + low) / 0x20000000000000;
  }

  /** Uniform in {0, …, n - 1}; rejection keeps it unbiased. */
  int(n: number): number {
    if (!Number.isInteger(n) || n < 1 || n > 0x100000000) {
      throw new RangeError(`int(n) needs a whole n from 1 to 2^32, got ${n}`);
    }
    const limit = 0x100000000 - (0x100000000 % n);
    let draw = this.bits();
    while (draw >= limit) draw = this.bits();
    return draw % n;
  }

  /** Fisher-Yates, in place. */
  shuffle<S extends Sequence<unknown>>(items: S): S {
    const list: Sequence<unknown> = items;
    for (let i = list.length - 1; i > 0; i--) {
      const j = this.int(i + 1);
      const held = list[i];
      list[i] = list[j];
      list[j] = held;
    }
    return items;
  }

  choice<T>(items: { readonly length: number; readonly [index: number]: T }): T {
    if (items.length === 0) throw new RangeError('choice needs at least one item');
    return items[this.int(items.length)] as T;
  }

  /** Standard normal (Box-Muller); the second value is dropped. */
  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.next()));
    return radius * Math.cos(2 * Math.PI * this.next());
  }
}
