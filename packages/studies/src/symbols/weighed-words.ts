import { coherentWords, RERANKED_WORDS, rowsByWord } from '../measures/coherent-words.ts';
import { tellingTerms } from '../measures/document-terms.ts';
import { pmiWords } from '../measures/pmi-words.ts';
import { withoutRepeatedSentences } from '../measures/repeated-sentences.ts';
import { nameSymbols, partsFromTexts } from '../measures/symbol-names.ts';
import { textWords } from '../measures/text-words.ts';
import type { EncodedCorpus, EncodedSentence } from '../texts/encoded.ts';
import type { SymbolMeaning } from './meaning.ts';

/** A step's weight counts by this power: words of a symbol are those of the texts that it tells most of. */
export const WEIGHT_POWER = 2;

export type WordVectors = (words: readonly string[]) => Promise<Float32Array>;

/** What of texts is no word of a symbol. */
export interface WordSettings {
  /** Whether sentences that come again in many texts are left out. */
  clean: boolean;
  stopWords: ReadonlySet<string>;
}

/** Sentences, or passages of texts, whose steps have weights, from which words of symbols are chosen with them. */
export class WeighedSentences {
  readonly #symbols: number;
  readonly #length: number;
  readonly #texts: string[] = [];
  readonly #walks: number[] = [];
  readonly #weights: number[] = [];

  constructor(symbols: number, length: number) {
    this.#symbols = symbols;
    this.#length = length;
  }

  add({ text, walk, weights }: Pick<EncodedSentence, 'text' | 'walk' | 'weights'>): void {
    if (!weights) return;
    this.#texts.push(text);
    this.#walks.push(...walk);
    this.#weights.push(...weights.map((weight) => weight ** WEIGHT_POWER));
  }

  /**
   * The words of each symbol that go together by the vectors that `vectorsOf` gives them, a row each, none of them a stop
   * word; nothing where no sentence has weights.
   */
  async words(
    most: number,
    { clean, stopWords }: WordSettings,
    vectorsOf: WordVectors,
  ): Promise<string[][] | undefined> {
    if (this.#texts.length === 0) return undefined;
    const texts = clean ? withoutRepeatedSentences(this.#texts) : this.#texts;
    const matrix = tellingTerms(textWords(texts), stopWords);
    const uses = { symbols: Int32Array.from(this.#walks), length: this.#length, weights: this.#weights };
    const options = { symbols: this.#symbols, words: RERANKED_WORDS, leastDifferent: 0 };
    const ranked = pmiWords(matrix, uses, options);
    const words = [...new Set(ranked.flat().map(({ word }) => word))];
    const vectorOf = rowsByWord(words, await vectorsOf(words));
    return coherentWords(ranked, vectorOf, { words: most }).map((list) => list.map(({ word }) => word));
  }
}

/** A name for each symbol from its words, and from the phrases and capitals of the texts whose walks visit it. */
export function foundNames(symbols: readonly SymbolMeaning[], encoded: EncodedCorpus): string[] {
  const lists = symbols.map(({ words }) => words.map(({ word }) => word));
  const texts = Array.from(encoded.sentences(), ({ text }) => text);
  const weights = encoded.weights.map((weight) => weight ** WEIGHT_POWER);
  const uses = { symbols: Int32Array.from(encoded.walks), length: encoded.length, weights };
  return nameSymbols(lists, partsFromTexts(lists, { texts, uses }));
}
