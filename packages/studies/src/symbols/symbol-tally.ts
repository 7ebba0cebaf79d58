import { stepWeights } from '../measures/symbol-uses.ts';

/** Counts over sentences: who visits which symbol, with which words and labels; each step by its weight (`stepWeights`). */
export class SymbolTally {
  readonly #symbols: number;
  readonly #length: number;
  #sentences = 0;
  readonly #visits: Int32Array; // sentences that visit each symbol [K]
  readonly #positions: Int32Array; // sentences that come to each symbol at each step [L, K]
  readonly #weights: Float64Array; // weights of all steps on each symbol [K]
  readonly #withLabel: Float64Array; // the same of each label [labels, K]
  readonly #labelled: Int32Array;
  /** Word → sentences with it and each symbol [K], and sentences with it in all. */
  readonly #words = new Map<string, { count: number; with: Int32Array }>();

  constructor(symbols: number, length: number, labels: number) {
    this.#symbols = symbols;
    this.#length = length;
    this.#visits = new Int32Array(symbols);
    this.#positions = new Int32Array(length * symbols);
    this.#weights = new Float64Array(symbols);
    this.#withLabel = new Float64Array(labels * symbols);
    this.#labelled = new Int32Array(labels);
  }

  add(
    { walk, weights }: { walk: readonly number[]; weights?: readonly number[] | undefined },
    label: number,
    words: ReadonlySet<string>,
  ): void {
    const K = this.#symbols;
    this.#sentences++;
    if (label >= 0) this.#labelled[label]!++;
    for (const [i, weight] of stepWeights(walk, weights).entries()) {
      const symbol = walk[i]!;
      this.#weights[symbol]! += weight;
      if (weight > 0) this.#positions[i * K + symbol]!++;
      if (label >= 0) this.#withLabel[label * K + symbol]! += weight;
    }
    const visited = new Set(walk);
    for (const symbol of visited) this.#visits[symbol]!++;
    for (const word of words) {
      const seen = this.#words.get(word) ?? { count: 0, with: new Int32Array(K) };
      seen.count++;
      for (const symbol of visited) seen.with[symbol]!++;
      this.#words.set(word, seen);
    }
  }

  usage(symbol: number): { usage: number; usageByPosition: number[]; sentences: number } {
    const N = Math.max(1, this.#sentences);
    const at = (i: number) => this.#positions[i * this.#symbols + symbol]! / N;
    const usageByPosition = Array.from({ length: this.#length }, (_, i) => at(i));
    const all = this.#weights.reduce((sum, weight) => sum + weight, 0);
    const usage = all === 0 ? 0 : this.#weights[symbol]! / all;
    return { usage, usageByPosition, sentences: this.#visits[symbol]! };
  }

  /**
   * Words by pmi = log₂ P(w, k) / (P(w) P(k)) over sentences. Rare words have the largest by chance, so they are ranked
   * after a discount of n/(n + 1) · m/(m + 1), with n sentences of both and m of the rarer of the two.
   */
  words(symbol: number, most: number): { word: string; pmi: number; count: number }[] {
    const visits = this.#visits[symbol]!;
    return this.these(symbol, [...this.#words.keys()])
      .filter(({ pmi, count }) => count >= leastCount && pmi > 0)
      .map(({ word, pmi, count }) => {
        const rarer = Math.min(this.#words.get(word)!.count, visits);
        return { word, pmi, count, rank: pmi * (count / (count + 1)) * (rarer / (rarer + 1)) };
      })
      .sort((a, b) => b.rank - a.rank || b.count - a.count || (a.word < b.word ? -1 : 1))
      .slice(0, most)
      .map(({ word, pmi, count }) => ({ word, pmi, count }));
  }

  /** What is counted of words that were chosen elsewhere; those never counted are left out. */
  these(symbol: number, words: readonly string[]): { word: string; pmi: number; count: number }[] {
    const visits = this.#visits[symbol]!;
    return words.flatMap((word) => {
      const seen = this.#words.get(word);
      const count = seen?.with[symbol] ?? 0;
      if (!seen || count === 0) return [];
      return [{ word, count, pmi: Math.log2((count * this.#sentences) / (seen.count * visits)) }];
    });
  }

  /** Labels of the symbol's sentences, most frequent first. */
  labels(symbol: number): { label: number; share: number; lift: number }[] {
    const K = this.#symbols;
    const counts = Array.from(this.#labelled, (_, label) => this.#withLabel[label * K + symbol]!);
    const all = counts.reduce((sum, count) => sum + count, 0);
    const total = this.#labelled.reduce((sum, count) => sum + count, 0);
    return counts
      .map((count, label) => {
        const share = all === 0 ? 0 : count / all;
        return { label, share, lift: share === 0 ? 0 : share / (this.#labelled[label]! / total) };
      })
      .filter(({ share }) => share > 0)
      .sort((a, b) => b.share - a.share || a.label - b.label);
  }
}

/** Sentences that a word must share with a symbol to say something of it. */
const leastCount = 3;
