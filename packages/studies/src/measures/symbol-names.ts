import { fewestTextsOf } from './document-terms.ts';
import { type Phrase, phrasesOf, surfaceWords, writtenForms } from './phrases.ts';
import { withoutStopWords } from './stop-words.ts';
import { type SymbolUses, usesBySymbol } from './symbol-uses.ts';
import { textWords } from './text-words.ts';

/** The words of each symbol in lower case, the most telling first. */
export type WordLists = readonly (readonly string[])[];

/** Texts with their walks, where phrases and capitals are looked up. */
export interface NamingTexts {
  readonly texts: readonly string[];
  readonly uses: SymbolUses;
}

/** What a name is made of: a word or a phrase, as it is written. */
export interface NamePart {
  readonly words: readonly string[];
  readonly form: string;
}

/** Words of a symbol that a name is made of, and those by which symbols are alike. */
const candidates = 8;
const compared = 6;
/**
 * A phrase stands for a word where it has a share of the symbol's texts with the word, and its words attract each other:
 * less is asked of one whose words are all among the symbol's first.
 */
const needed = { share: 0.25, npmi: 0.4 };
const neededOfOwn = { share: 0.1, npmi: 0.25 };
/** Texts in which phrases are looked up, evenly drawn from more. */
const mostTexts = 20_000;

/**
 * One short name a symbol, all different: the word that says most of it, or the phrase that texts write it in, and
 * for a single word, or a phrase that another symbol has too, a second one. A word that other symbols have among their
 * first says less. Parts are joined with a comma; words of one stem count once. Where nothing else tells two apart, their
 * numbers do.
 */
export function nameSymbols(
  lists: WordLists,
  partOf: PartOf = (word) => [plainPart(word), plainPart(word)],
): string[] {
  const holders = holdersOf(lists);
  const ranked = lists.map((list, symbol) => rankedParts(list, holders, (word) => partOf(word, symbol)));
  const lengths = ranked.map((parts) => Math.min(parts.length, (parts[0]?.words.length ?? 0) > 1 ? 1 : 2));
  const keyOf = (symbol: number) => keyOfParts(ranked[symbol]!.slice(0, lengths[symbol]));
  lengthen(lengths, ranked, keyOf);
  return ranked.map((parts, symbol) => {
    if (parts.length === 0) return `no words (${symbol})`;
    const name = parts
      .slice(0, lengths[symbol])
      .map(({ form }) => form)
      .join(', ');
    const alone = ranked.every((_, other) => other === symbol || keyOf(other) !== keyOf(symbol));
    // No word has brackets, so that no other name is one of these.
    return alone ? name : `${name} (${symbol})`;
  });
}

/** What stands for a word of a symbol: the phrase that it is said in, if there is one, and the word alone. */
type NameParts = readonly [phrase: NamePart, single: NamePart];
export type PartOf = (word: string, symbol: number) => NameParts;

const plainPart = (word: string): NamePart => ({ words: [word], form: word });

const keyOfParts = (parts: readonly NamePart[]): string =>
  parts
    .flatMap(({ words }) => words)
    .toSorted()
    .join(' ');

/** Adds a part to names for as long as another symbol has the same words. */
function lengthen(
  lengths: number[],
  ranked: readonly (readonly NamePart[])[],
  keyOf: (symbol: number) => string,
): void {
  for (let grown = true; grown; ) {
    grown = false;
    const keys = ranked.map((_, symbol) => keyOf(symbol));
    for (const [symbol, key] of keys.entries()) {
      if (keys.indexOf(key) === keys.lastIndexOf(key) || lengths[symbol] === ranked[symbol]!.length) continue;
      lengths[symbol]!++;
      grown = true;
    }
  }
}

/** In how many lists each word is among the first. */
function holdersOf(lists: WordLists): Map<string, number> {
  const holders = new Map<string, number>();
  for (const list of lists)
    for (const word of list.slice(0, compared)) holders.set(word, (holders.get(word) ?? 0) + 1);
  return holders;
}

/** Parts of a name, the best first: score, less for words that other symbols have; no two of one stem. */
function rankedParts(
  list: readonly string[],
  holders: ReadonlyMap<string, number>,
  partOf: (word: string) => NameParts,
): NamePart[] {
  const worth = (word: string) => 1 / (list.indexOf(word) + 2) / Math.sqrt(holders.get(word) ?? 1);
  const parts: NamePart[] = [];
  for (const word of list.slice(0, candidates).toSorted((a, b) => worth(b) - worth(a))) {
    const used = parts.flatMap(({ words }) => words);
    const free = (part: NamePart) => part.words.every((one) => !used.some((other) => sameStem(one, other)));
    const [phrase, single] = partOf(word);
    const part = [phrase, single].find(free);
    if (part) parts.push(part);
  }
  return parts;
}

/** Parts as names that were made before have them, for groups of symbols. */
export function partsFromNames(names: readonly string[]): PartOf {
  const known = new Map<string, NameParts>();
  for (const form of names.flatMap((name) => name.split(', '))) {
    const written = form.split(' ');
    const words = written.map((word) => word.toLowerCase());
    for (const [at, word] of words.entries())
      if (!known.has(word))
        known.set(word, [
          { words, form },
          { words: [word], form: written[at]! },
        ]);
  }
  return (word) => known.get(word) ?? [plainPart(word), plainPart(word)];
}

/** Phrases and written forms of texts, as the parts of names. */
export function partsFromTexts(lists: WordLists, naming: NamingTexts): PartOf {
  const { texts, uses } = someTexts(naming);
  const heads = new Set(lists.flatMap((list) => list.slice(0, candidates)));
  const surface = surfaceWords(texts);
  const forms = writtenForms(surface, heads);
  const kept = withoutStopWords(textWords(texts));
  const content = new Set(Array.from(new Set(kept.tokens), (word) => kept.words[word]!));
  const least = { minTexts: fewestTextsOf(texts.length), leastNpmi: neededOfOwn.npmi };
  const phrases = phrasesOf(surface, { content, heads, ...least });
  const byWord = new Map<string, Phrase[]>();
  for (const phrase of phrases)
    for (const word of phrase.words) byWord.set(word, [...(byWord.get(word) ?? []), phrase]);
  const weights = weightsBySymbol(uses, lists.length);
  const textsWith = textsOfWords(surface, heads);
  return (word, symbol) => {
    const sum = (rows: readonly number[]) =>
      rows.reduce((all, text) => all + (weights[symbol]!.get(text) ?? 0), 0);
    const all = sum(textsWith.get(word) ?? []);
    const first = lists[symbol]!.slice(0, candidates);
    let best: { phrase: Phrase; worth: number } | undefined;
    for (const phrase of byWord.get(word) ?? []) {
      const own = sum(phrase.texts);
      const worth = own * phrase.npmi;
      const { share, npmi } = phrase.words.every((one) => first.includes(one)) ? neededOfOwn : needed;
      if (own < share * all || phrase.npmi < npmi || worth <= (best?.worth ?? 0)) continue;
      if (differ(phrase.words)) best = { phrase, worth };
    }
    const single = { words: [word], form: forms.get(word) ?? word };
    return [best?.phrase ?? single, single];
  };
}

function someTexts({ texts, uses }: NamingTexts): NamingTexts {
  const stride = Math.ceil(texts.length / mostTexts);
  if (stride <= 1) return { texts, uses };
  const { symbols, length, weights } = uses;
  const kept = (at: number) => Math.floor(at / length) % stride === 0;
  const some = {
    symbols: symbols.filter((_, at) => kept(at)),
    length,
    ...(weights ? { weights: Array.from(weights).filter((_, at) => kept(at)) } : {}),
  };
  return { texts: texts.filter((_, n) => n % stride === 0), uses: some };
}

const differ = (words: readonly string[]): boolean =>
  words.every((word, at) => !words.slice(0, at).some((other) => sameStem(word, other)));

/** Weight of each text for each symbol. */
function weightsBySymbol(uses: SymbolUses, K: number): Map<number, number>[] {
  const { starts, texts, weights } = usesBySymbol(uses, K);
  return Array.from({ length: K }, (_, symbol) => {
    const own = new Map<number, number>();
    for (let at = starts[symbol]!; at < starts[symbol + 1]!; at++)
      own.set(texts[at]!, (own.get(texts[at]!) ?? 0) + weights[at]!);
    return own;
  });
}

function textsOfWords(
  { tokens, words, starts }: ReturnType<typeof surfaceWords>,
  wanted: ReadonlySet<string>,
): Map<string, number[]> {
  const found = new Map<string, number[]>([...wanted].map((word) => [word, []]));
  for (let text = 0; text + 1 < starts.length; text++)
    for (const token of tokens.subarray(starts[text]!, starts[text + 1]!)) {
      const rows = token < 0 ? undefined : found.get(words[token]!);
      if (rows && rows.at(-1) !== text) rows.push(text);
    }
  return found;
}

/** Endings that two forms of one word may have. */
const longestEnding = 3;
const leastStem = { word: 4, shared: 5 };

/** Whether one is the other's plural, begins with it but for a last "e" or "y" ("album", "albums"), or both with one stem ("Mexico", "Mexican"). */
export function sameStem(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  const plurals = [`${short}s`, `${short}es`, short.replace(/y$/, 'ies')];
  if (short === long || plurals.includes(long)) return true;
  const stem = short.length > leastStem.word ? short.replace(/[ey]$/, '') : short;
  if (stem.length >= leastStem.word && long.length - short.length <= longestEnding && long.startsWith(stem))
    return true;
  let shared = 0;
  while (shared < short.length && short[shared] === long[shared]) shared++;
  return shared >= leastStem.shared && long.length - shared <= longestEnding;
}
