import type { TextData } from './text-data.ts';

/** What texts are asked for; all that is asked must hold. */
export interface Filter {
  /** Any of these; all where there are none. */
  labels: readonly string[];
  /** Walks that pass any of these. */
  symbols: readonly number[];
  /** A line around texts on the map: x and y in turn, in thousandths. */
  around: readonly number[];
  /** From a time on, and before another; null for any. */
  between: readonly [number | null, number | null];
  /** One bit for each text that has the words. */
  words: Uint8Array | null;
}

export type Part = keyof Filter;

/** 1 for each text that is asked for; `without` leaves one question out. [N] */
export function passing(data: TextData, filter: Filter, without?: Part): Uint8Array {
  const selected = new Uint8Array(data.count).fill(1);
  const keep: Record<Part, () => void> = {
    labels: () => keepLabels(selected, data, filter.labels),
    symbols: () => keepSymbols(selected, data, filter.symbols),
    around: () => keepAround(selected, data, filter.around),
    between: () => keepBetween(selected, data, filter.between),
    words: () => {
      const { words } = filter;
      if (words) for (let n = 0; n < selected.length; n++) selected[n]! &= words[n >> 3]! >> (n & 7);
    },
  };
  for (const part of Object.keys(keep) as Part[]) if (part !== without) keep[part]();
  return selected;
}

export function countOf(selected: Uint8Array): number {
  let count = 0;
  for (let n = 0; n < selected.length; n++) count += selected[n]!;
  return count;
}

function keepLabels(selected: Uint8Array, { labels, labelOf }: TextData, wanted: readonly string[]): void {
  if (wanted.length === 0) return;
  const numbers = new Set(wanted.map((label) => labels.indexOf(label)).filter((at) => at >= 0));
  for (let n = 0; n < selected.length; n++) if (!numbers.has(labelOf[n]!)) selected[n] = 0;
}

function keepSymbols(selected: Uint8Array, { walks, length }: TextData, wanted: readonly number[]): void {
  if (wanted.length === 0) return;
  const set = new Set(wanted);
  for (let n = 0; n < selected.length; n++) {
    let passes = 0;
    for (let at = n * length; at < (n + 1) * length; at++) if (set.has(walks[at]!)) passes = 1;
    selected[n]! &= passes;
  }
}

/** A text without a date is at no time. */
function keepBetween(selected: Uint8Array, { times }: TextData, [since, until]: Filter['between']): void {
  if (!times || (since === null && until === null)) return;
  const [from, to] = [since ?? Number.NEGATIVE_INFINITY, until ?? Number.POSITIVE_INFINITY];
  for (let n = 0; n < selected.length; n++) if (!(times[n]! >= from && times[n]! < to)) selected[n] = 0;
}

const THOUSANDTHS = 1000;

/** By crossings of a ray with the closed line. */
function keepAround(selected: Uint8Array, { places }: TextData, line: readonly number[]): void {
  const corners = line.length >> 1;
  if (corners < 3) return;
  for (let n = 0; n < selected.length; n++) {
    if (selected[n] === 0) continue;
    const [x, y] = [places[2 * n]! * THOUSANDTHS, places[2 * n + 1]! * THOUSANDTHS];
    let inside = 0;
    for (let at = 0, before = corners - 1; at < corners; before = at++) {
      const [ax, ay, bx, by] = [line[2 * at]!, line[2 * at + 1]!, line[2 * before]!, line[2 * before + 1]!];
      if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside ^= 1;
    }
    selected[n] = inside;
  }
}

/** Texts of each label among the selected ones. */
export function labelCounts({ labels, labelOf }: TextData, selected: Uint8Array): Uint32Array {
  const counts = new Uint32Array(labels.length);
  for (let n = 0; n < selected.length; n++) if (selected[n] === 1 && labelOf[n]! >= 0) counts[labelOf[n]!]!++;
  return counts;
}

/** Texts whose walks pass each symbol, among the selected ones. */
export function symbolCounts({ walks, length, symbols }: TextData, selected: Uint8Array): Uint32Array {
  const counts = new Uint32Array(symbols);
  const last = new Int32Array(symbols).fill(-1);
  for (let n = 0; n < selected.length; n++) {
    if (selected[n] === 0) continue;
    for (let at = n * length; at < (n + 1) * length; at++) {
      const symbol = walks[at]!;
      if (last[symbol] !== n) counts[symbol]!++;
      last[symbol] = n;
    }
  }
  return counts;
}

/** The numbers of the selected texts from one on. */
export function selectedTexts(selected: Uint8Array, offset: number, limit: number): number[] {
  const found: number[] = [];
  for (let n = 0, seen = 0; n < selected.length && found.length < limit; n++) {
    if (selected[n] === 0) continue;
    if (seen >= offset) found.push(n);
    seen++;
  }
  return found;
}

/** One bit for each text, the lowest of the first byte first; base64. */
export function bitsOf(selected: Uint8Array): string {
  const bytes = new Uint8Array(Math.ceil(selected.length / 8));
  for (let n = 0; n < selected.length; n++) bytes[n >> 3]! |= selected[n]! << (n & 7);
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

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
