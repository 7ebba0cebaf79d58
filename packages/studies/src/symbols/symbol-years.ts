import type { EncodedCorpus } from '../texts/encoded.ts';

/** The years of the texts whose walks begin with a symbol. */
export interface SymbolYears {
  /** Half of the texts are older. */
  middle: number;
  /** A quarter of the texts is older than the first, a quarter younger than the second. */
  quartiles: readonly [number, number];
  texts: number;
}

/** The years each symbol belongs to, by the texts in which it comes first; none for a symbol that never does. */
export function symbolYears(
  encoded: Pick<EncodedCorpus, 'count' | 'symbols'> & { walk(index: number): ArrayLike<number> },
  yearOf: (index: number) => number | undefined,
): (SymbolYears | undefined)[] {
  const years = Array.from({ length: encoded.symbols }, (): number[] => []);
  for (let n = 0; n < encoded.count; n++) {
    const year = yearOf(n);
    if (year !== undefined) years[encoded.walk(n)[0]!]!.push(year);
  }
  return years.map((list) => {
    if (list.length === 0) return undefined;
    const sorted = list.sort((a, b) => a - b);
    return {
      middle: quantile(sorted, 0.5),
      quartiles: [quantile(sorted, 0.25), quantile(sorted, 0.75)] as const,
      texts: sorted.length,
    };
  });
}

/** Between the two values around the place, as far as it lies between them. */
function quantile(sorted: readonly number[], share: number): number {
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const from = sorted[below]!;
  return from + (place - below) * ((sorted[below + 1] ?? from) - from);
}
