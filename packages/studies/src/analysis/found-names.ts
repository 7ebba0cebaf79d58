import { nameSymbols, partsFromTexts } from '../measures/symbol-names.ts';
import type { EncodedCorpus } from './encoded.ts';
import type { SymbolMeaning } from './meaning.ts';
import { WEIGHT_POWER } from './weighed-words.ts';

/** A name for each symbol from its words, and from the phrases and capitals of the texts whose walks visit it. */
export function foundNames(symbols: readonly SymbolMeaning[], encoded: EncodedCorpus): string[] {
  const lists = symbols.map(({ words }) => words.map(({ word }) => word));
  const texts = Array.from(encoded.sentences(), ({ text }) => text);
  const weights = encoded.weights.map((weight) => weight ** WEIGHT_POWER);
  const uses = { symbols: Int32Array.from(encoded.walks), length: encoded.length, weights };
  return nameSymbols(lists, partsFromTexts(lists, { texts, uses }));
}
