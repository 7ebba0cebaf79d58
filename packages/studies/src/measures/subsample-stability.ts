import { agreement } from './agreement.ts';

/** The symbols that were found in some of the texts of a corpus. */
export interface SubsampleFit {
  /** Texts of the corpus, rising. [n] */
  readonly rows: ArrayLike<number>;
  /** First symbol of each of them. [n] */
  readonly symbols: ArrayLike<number>;
  /** First words of each symbol. [K] */
  readonly words: readonly (readonly string[])[];
}

/** How far the same symbols come out of different texts of one corpus: means over all pairs of subsamples. */
export interface SubsampleStability {
  /** Normalised mutual information and adjusted Rand index of first symbols, over the texts that both have. */
  readonly nmi: number;
  readonly ari: number;
  /** Share of the words of a symbol that its match has, over matched symbols. */
  readonly words: number;
}

/** Nothing for fewer than two subsamples, or where two have no text in common. */
export function subsampleStability(fits: readonly SubsampleFit[]): SubsampleStability | undefined {
  const pairs = fits.flatMap((a, at) => fits.slice(at + 1).map((b) => [a, b] as const));
  const found = pairs.map(([a, b]) => {
    const symbolOf = new Map(Array.from(b.rows, (row, at) => [row, b.symbols[at]!]));
    const common = Array.from(a.rows, (row, at) => [a.symbols[at]!, symbolOf.get(row)] as const);
    const both = common.flatMap(([one, other]) => (other === undefined ? [] : [[one, other] as const]));
    if (both.length === 0) return undefined;
    const { nmi, ari } = agreement(
      both.map(([one]) => one),
      both.map(([, other]) => other),
    );
    return { nmi, ari, words: matchedWords(a.words, b.words) };
  });
  const known = found.filter((one) => one !== undefined);
  if (known.length === 0 || known.length < found.length) return undefined;
  const mean = (key: keyof SubsampleStability) =>
    known.reduce((sum, one) => sum + one[key], 0) / known.length;
  return { nmi: mean('nmi'), ari: mean('ari'), words: mean('words') };
}

/**
 * Symbols of two lists matched one to one, the pair with most words in common first; the mean share of common words of
 * the longer one. Where one list has more symbols than the other, those that are left have none in common.
 */
function matchedWords(a: SubsampleFit['words'], b: SubsampleFit['words']): number {
  const [left, right] = [a, b].map((lists) => lists.filter((list) => list.length > 0));
  const pairs = left!.flatMap((one, i) =>
    right!.map((other, j) => {
      const common = one.filter((word) => other.includes(word)).length;
      return { i, j, share: common / Math.max(one.length, other.length) };
    }),
  );
  pairs.sort((x, y) => y.share - x.share || x.i - y.i || x.j - y.j);
  const [takenLeft, takenRight] = [new Set<number>(), new Set<number>()];
  let sum = 0;
  for (const { i, j, share } of pairs) {
    if (takenLeft.has(i) || takenRight.has(j)) continue;
    takenLeft.add(i);
    takenRight.add(j);
    sum += share;
  }
  const most = Math.max(left!.length, right!.length);
  return most === 0 ? 0 : sum / most;
}
