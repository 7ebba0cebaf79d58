import type { RankedWord } from './c-tf-idf.ts';

const shortest = 2;

/**
 * One short name a symbol from its first words, all different: two words, and one more for as long as another symbol
 * has the same words in whatever order. Words of one stem count once. Without words, or where they are all shared, a
 * number tells symbols apart.
 */
export function namesFromWords(ranked: readonly (readonly Pick<RankedWord, 'word'>[])[]): string[] {
  const words = ranked.map((list) => differentStems(list.map(({ word }) => word)));
  const lengths = words.map((list) => Math.min(shortest, list.length));
  const keyOf = (symbol: number) => words[symbol]!.slice(0, lengths[symbol]).toSorted().join(' ');
  for (let grown = true; grown; ) {
    grown = false;
    for (const symbols of groups(words.keys(), keyOf)) {
      if (symbols.length === 1) continue;
      for (const symbol of symbols) {
        if (lengths[symbol]! === words[symbol]!.length) continue;
        lengths[symbol]!++;
        grown = true;
      }
    }
  }
  const names = words.map((list, symbol) => list.slice(0, lengths[symbol]).join(' '));
  return numbered(names, groups(words.keys(), keyOf));
}

function groups(symbols: Iterable<number>, keyOf: (symbol: number) => string): number[][] {
  const found = new Map<string, number[]>();
  for (const symbol of symbols) {
    const key = keyOf(symbol);
    const group = found.get(key);
    if (group) group.push(symbol);
    else found.set(key, [symbol]);
  }
  return [...found.values()];
}

/** No word has brackets, so that no name of words is one of these. */
function numbered(names: readonly string[], groups: readonly number[][]): string[] {
  const different = [...names];
  for (const symbols of groups)
    for (const symbol of symbols) {
      if (names[symbol] === '') different[symbol] = `no words (${symbol})`;
      else if (symbols.length > 1) different[symbol] = `${names[symbol]} (${symbol})`;
    }
  return different;
}

/** Without words that begin as an earlier one: "albums" after "album". */
function differentStems(words: readonly string[]): string[] {
  const kept: string[] = [];
  for (const word of words) if (!kept.some((other) => sameStem(word, other))) kept.push(word);
  return kept;
}

/** One begins with the other, but for a last "e" or "y", and goes on for at most three letters. */
function sameStem(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  const stem = short.length > 4 ? short.replace(/[ey]$/, '') : short;
  return stem.length >= 4 && long.length - short.length <= 3 && long.startsWith(stem);
}
