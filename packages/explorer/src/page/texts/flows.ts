import type { TextData } from './text-data.ts';

/** Where texts go from a symbol, or come from: another symbol, and the share of the symbol's texts. */
export interface Flow {
  symbol: number;
  /** Of the texts that pass the symbol. */
  share: number;
}

/** What texts go to right after a symbol, and right before it; the most frequent first. */
export function flowsOf(
  { walks, length, count, symbols }: TextData,
  symbol: number,
): { texts: number; after: Flow[]; before: Flow[] } {
  const [after, before] = [new Uint32Array(symbols), new Uint32Array(symbols)];
  let texts = 0;
  for (let n = 0; n < count; n++) {
    const walk = walks.subarray(n * length, (n + 1) * length);
    if (!walk.includes(symbol)) continue;
    texts++;
    const [next, last] = [new Set<number>(), new Set<number>()];
    walk.forEach((at, step) => {
      if (at !== symbol) return;
      if (step + 1 < length && walk[step + 1] !== symbol) next.add(walk[step + 1]!);
      if (step > 0 && walk[step - 1] !== symbol) last.add(walk[step - 1]!);
    });
    for (const other of next) after[other]!++;
    for (const other of last) before[other]!++;
  }
  const ranked = (counts: Uint32Array): Flow[] =>
    Array.from(counts, (of, other) => ({ symbol: other, share: of / Math.max(1, texts) }))
      .filter(({ share }) => share > 0)
      .sort((a, b) => b.share - a.share || a.symbol - b.symbol);
  return { texts, after: ranked(after), before: ranked(before) };
}
