/** Walks of N texts over K symbols, and how much each step counts. */
export interface SymbolUses {
  /** [N, L], −1 where a text has no such step. */
  readonly symbols: Int32Array;
  /** L */
  readonly length: number;
  /** Weight of each step, as a squared coefficient; 1 each where they are missing. [N, L] */
  readonly weights?: ArrayLike<number>;
}

/** One symbol a text, as of clusters; −1 is none. */
export const oneSymbolEach = (symbols: ArrayLike<number>): SymbolUses => ({
  symbols: Int32Array.from(symbols),
  length: 1,
});

/** The symbol that each text begins with. [N] */
export function firstSymbols({ symbols, length }: Pick<SymbolUses, 'symbols' | 'length'>): Int32Array {
  return symbols.filter((_, at) => at % length === 0);
}

/** The uses of each symbol: symbol k has `texts` and `weights` from `starts[k]` up to `starts[k + 1]`. */
export interface UsesBySymbol {
  readonly starts: Uint32Array;
  readonly texts: Uint32Array;
  readonly weights: Float64Array;
}

export function usesBySymbol({ symbols, length, weights }: SymbolUses, K: number): UsesBySymbol {
  const starts = new Uint32Array(K + 1);
  for (const symbol of symbols) {
    if (symbol >= K) throw new RangeError(`a symbol is below ${K}, got ${symbol}`);
    if (symbol >= 0) starts[symbol + 1]!++;
  }
  for (let k = 0; k < K; k++) starts[k + 1]! += starts[k]!;
  const next = starts.slice();
  const texts = new Uint32Array(starts[K]!);
  const grouped = new Float64Array(starts[K]!);
  for (const [at, symbol] of symbols.entries()) {
    if (symbol < 0) continue;
    const place = next[symbol]!++;
    texts[place] = Math.floor(at / length);
    grouped[place] = weights?.[at] ?? 1;
  }
  return { starts, texts, weights: grouped };
}

/**
 * How much each step of a walk counts for its symbol: the first fully, a step that stays where the walk is not at all, and
 * any other by how much of the text it tells beside the first, at most fully; fully where coefficients are not known. [L]
 */
export function stepWeights(walk: ArrayLike<number>, coefficients?: ArrayLike<number>): number[] {
  const first = coefficients?.[0] ?? 0;
  return Array.from(walk, (symbol, i) => {
    if (i === 0) return 1;
    if (symbol === walk[i - 1]) return 0;
    return coefficients && first > 0 ? Math.min(1, coefficients[i]! / first) : 1;
  });
}

/** The different symbols of a walk that ends by staying on its last one. */
export function withoutStays(walk: ArrayLike<number>): number[] {
  return Array.from(walk).filter((symbol, i) => i === 0 || symbol !== walk[i - 1]);
}

/** Π p_i, as of the steps of a walk: its probability. */
export const product = (values: readonly number[]): number => values.reduce((all, value) => all * value, 1);
