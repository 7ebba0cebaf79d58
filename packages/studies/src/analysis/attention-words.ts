import type { LanguageRun } from '@hidden-schema/hsn';
import { type AttentionOptions, overallWeights } from './attention.ts';
import { readAttention } from './attention-reading.ts';
import type { EncodedCorpus } from './encoded.ts';

/** Occurrences below which a word's mean attention says little. */
const leastCount = 3;
const defaultLimit = 500;

/** How much attention each symbol gets while each word is generated. */
export class AttentionWords {
  readonly #symbols: number;
  readonly #words = new Map<string, { count: number; attention: Float64Array }>();

  constructor(symbols: number) {
    this.#symbols = symbols;
  }

  add(word: string, walk: readonly number[], weights: Float64Array): void {
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    if (total === 0) return;
    const seen = this.#words.get(word) ?? { count: 0, attention: new Float64Array(this.#symbols) };
    seen.count++;
    for (const [i, symbol] of walk.entries()) seen.attention[symbol]! += weights[i]! / total;
    this.#words.set(word, seen);
  }

  /** The words that attend most to a symbol, of all attention they pay to symbols. */
  of(symbol: number, most: number): { word: string; share: number; count: number }[] {
    return [...this.#words]
      .map(([word, { count, attention }]) => ({ word, count, share: attention[symbol]! / count }))
      .filter(({ count, share }) => count >= leastCount && share > 0)
      .sort((a, b) => b.share - a.share || b.count - a.count || (a.word < b.word ? -1 : 1))
      .slice(0, most);
  }
}

/** Reads what words attend to in the first encoded sentences, 500 unless told otherwise. */
export async function attentionWords(
  run: LanguageRun,
  encoded: EncodedCorpus,
  options: AttentionOptions = {},
): Promise<AttentionWords> {
  const total = Math.min(encoded.count, options.limit ?? defaultLimit);
  const found = new AttentionWords(run.symbols);
  let done = 0;
  const sentences = function* () {
    for (let n = 0; n < total; n++) yield encoded.sentence(n);
  };
  for await (const reading of readAttention(run, sentences())) {
    options.signal?.throwIfAborted();
    for (const { word, tokens } of reading.words)
      found.add(word, reading.walk, overallWeights(reading, tokens));
    options.onProgress?.(++done, total);
  }
  return found;
}
