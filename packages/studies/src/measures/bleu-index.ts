import { bleuWords, brevityPenalty, closestLength, combined, mostOf, ngrams } from './bleu.ts';

/** Lists of references by their words and pairs of words: sentence BLEU-2 (NLTK's method 1) of a text against each of them. */
export class BleuIndex {
  /** By n-gram the lists that have it, each followed by how often the reference has it that has most. */
  readonly #having: readonly Map<string, number[]>[] = [new Map(), new Map()];
  readonly #lengths: readonly (readonly number[])[];
  readonly #penalties = new Map<number, Float64Array>();
  /** Words and pairs that a text shares with each list. */
  readonly #matches: readonly [Uint16Array, Uint16Array];

  constructor(lists: readonly (readonly string[])[]) {
    this.#lengths = lists.map((texts) => texts.map((text) => bleuWords(text).length));
    this.#matches = [new Uint16Array(lists.length), new Uint16Array(lists.length)];
    for (const [list, texts] of lists.entries())
      for (const [i, having] of this.#having.entries())
        for (const [gram, most] of mostOf(texts.map((text) => ngrams(bleuWords(text), i + 1)))) {
          const known = having.get(gram);
          if (known) known.push(list, most);
          else having.set(gram, [list, most]);
        }
  }

  /** A value for each list, into `out`. */
  against(text: string, out = new Float64Array(this.#lengths.length)): Float64Array {
    const words = bleuWords(text);
    const [ones, pairs] = this.#matches;
    for (const [i, matches] of this.#matches.entries()) {
      matches.fill(0);
      for (const [gram, count] of ngrams(words, i + 1)) {
        const having = this.#having[i]!.get(gram) ?? [];
        for (let at = 0; at < having.length; at += 2)
          matches[having[at]!]! += Math.min(count, having[at + 1]!);
      }
    }
    const [total, totalPairs] = [Math.max(1, words.length), Math.max(1, words.length - 1)];
    const values = Array.from({ length: (total + 1) * (totalPairs + 1) }, (_, at) => {
      const [one, pair] = [Math.floor(at / (totalPairs + 1)), at % (totalPairs + 1)];
      return combined([[one, total] as const, [pair, totalPairs] as const], 1, 'method1');
    });
    const penalties = this.#penaltiesOf(words.length);
    for (let list = 0; list < penalties.length; list++)
      out[list] = penalties[list]! * values[ones[list]! * (totalPairs + 1) + pairs[list]!]!;
    return out;
  }

  #penaltiesOf(length: number): Float64Array {
    const known =
      this.#penalties.get(length) ??
      Float64Array.from(this.#lengths, (lengths) => brevityPenalty(length, closestLength(length, lengths)));
    this.#penalties.set(length, known);
    return known;
  }
}
