import { tellingTerms } from '../measures/document-terms.ts';
import { pmiWords } from '../measures/pmi-words.ts';
import { withoutRepeatedSentences } from '../measures/repeated-sentences.ts';
import { textWords } from '../measures/text-words.ts';
import type { EncodedSentence } from './encoded.ts';

/** A step's weight counts by this power: words of a symbol are those of the texts that it tells most of. */
const power = 2;

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
    this.#weights.push(...weights.map((weight) => weight ** power));
  }

  /** The words of each symbol, none of them a stop word; nothing where no sentence has weights. */
  words(most: number, { clean, stopWords }: WordSettings): string[][] | undefined {
    if (this.#texts.length === 0) return undefined;
    const texts = clean ? withoutRepeatedSentences(this.#texts) : this.#texts;
    const matrix = tellingTerms(textWords(texts), stopWords);
    const uses = { symbols: Int32Array.from(this.#walks), length: this.#length, weights: this.#weights };
    const ranked = pmiWords(matrix, uses, { symbols: this.#symbols, words: most });
    return ranked.map((list) => list.map(({ word }) => word));
  }
}
