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

  get size(): number {
    return this.#count;
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
