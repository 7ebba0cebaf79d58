interface Entry {
  count: number;
  key: number;
}

/** A heap of counted pairs: the most frequent first, then the smallest key. */
export class PairHeap {
  readonly #entries: Entry[] = [];

  push(count: number, key: number): void {
    const entries = this.#entries;
    const entry = { count, key };
    let at = entries.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!precedes(entry, entries[parent]!)) break;
      entries[at] = entries[parent]!;
      at = parent;
    }
    entries[at] = entry;
  }

  pop(): Entry | undefined {
    const entries = this.#entries;
    const top = entries[0];
    const last = entries.pop();
    if (last === undefined || entries.length === 0) return top;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= entries.length) break;
      if (child + 1 < entries.length && precedes(entries[child + 1]!, entries[child]!)) child++;
      if (!precedes(entries[child]!, last)) break;
      entries[at] = entries[child]!;
      at = child;
    }
    entries[at] = last;
    return top;
  }
}

function precedes(a: Entry, b: Entry): boolean {
  return a.count > b.count || (a.count === b.count && a.key < b.key);
}
