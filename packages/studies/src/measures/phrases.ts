import { BREAK, type SurfaceWords } from './surface-words.ts';

/** Words that stand together more often than by chance, perhaps with a function word between the first two. */
export interface Phrase {
  /** Its words without function words: two, or three where one nearly always goes on with the third. */
  readonly words: readonly string[];
  /** As texts write it most often. */
  readonly form: string;
  /** Normalised pointwise mutual information of its first two as neighbours (Bouma 2009), from −1 to 1. */
  readonly npmi: number;
  /** Texts that have it, rising. */
  readonly texts: readonly number[];
}

export interface PhraseOptions {
  /** Words that may begin or end a phrase: no function words. */
  content: ReadonlySet<string>;
  /** Only phrases with one of these words are looked for. */
  heads: ReadonlySet<string>;
  /** Fewest texts that have a phrase. */
  minTexts?: number;
  leastNpmi?: number;
}

/** A phrase is part of a longer one where this share of its places go on, or come, with the same word. */
const partShare = 0.6;

/** Phrases of texts around some words. */
export function phrasesOf(surface: SurfaceWords, options: PhraseOptions): Phrase[] {
  const { minTexts = 3, leastNpmi = 0.4, content } = options;
  const shares = wordShares(surface);
  return [...countPairs(surface, options).values()].flatMap((pair) => {
    if (pair.texts.length < minTexts) return [];
    const [a, b] = pair.words;
    const together = pair.count / shares.total;
    const npmi = Math.log(together / (shares.of(a) * shares.of(b))) / -Math.log(together);
    const words = npmi < leastNpmi ? undefined : wholePhrase(pair, content);
    return words ? [{ ...words, npmi, texts: pair.texts }] : [];
  });
}

function wordShares({ tokens, words }: SurfaceWords) {
  const counts = new Map<string, number>();
  let total = 0;
  for (const token of tokens) {
    if (token === BREAK) continue;
    counts.set(words[token]!, (counts.get(words[token]!) ?? 0) + 1);
    total++;
  }
  return { total, of: (word: string) => (counts.get(word) ?? 0) / total };
}

/** Two words together, how they are written, and what stands before and behind them. */
class Pair {
  readonly words: readonly [string, string];
  readonly texts: number[] = [];
  readonly forms = new FormCounts();
  readonly before = new FormCounts();
  readonly behind = new FormCounts();
  count = 0;

  constructor(words: [string, string]) {
    this.words = words;
  }
}

/**
 * The pair with a third word that nearly always goes with it ("new south" is "New South Wales"). Nothing where a function
 * word does ("film directed by"), or where words around a function word are no names ("census its population").
 */
function wholePhrase(pair: Pair, content: ReadonlySet<string>): Pick<Phrase, 'words' | 'form'> | undefined {
  const form = pair.forms.commonest();
  const parts = form.split(' ');
  const isName = (part: string) => part !== part.toLowerCase();
  if (parts.length > 2 && !(isName(parts[0]!) && isName(parts.at(-1)!))) return undefined;
  if (parts.some((part) => part.length < 3 && !isName(part) && content.has(part))) return undefined;
  const least = partShare * pair.count;
  const [before, behind] = [pair.before.atLeast(least), pair.behind.atLeast(least)];
  const isContent = (third: string) => content.has(third.toLowerCase());
  if (behind !== undefined)
    return isContent(behind)
      ? { words: [...pair.words, behind.toLowerCase()], form: `${form} ${behind}` }
      : undefined;
  // An article before it is no part of it.
  if (before === undefined || !isContent(before)) return { words: pair.words, form };
  if (parts.length > 2) return undefined;
  return { words: [before.toLowerCase(), ...pair.words], form: `${before} ${form}` };
}

function countPairs(surface: SurfaceWords, { content, heads }: PhraseOptions): Map<string, Pair> {
  const found = new Map<string, Pair>();
  const { tokens, words, forms, initial, starts } = surface;
  const usable = words.map((word) => content.has(word));
  const formAt = (at: number) => (tokens[at] === undefined || tokens[at] === BREAK ? '' : forms[tokens[at]]!);
  for (let text = 0; text + 1 < starts.length; text++)
    for (let [at, limit] = [starts[text]!, starts[text + 1]!]; at + 1 < limit; at++) {
      const end = phraseEnd(tokens.subarray(0, limit), at, usable);
      if (end === undefined) continue;
      const [a, b] = [words[tokens[at]!]!, words[tokens[end]!]!];
      if (a === b || (!heads.has(a) && !heads.has(b))) continue;
      const span = Array.from(tokens.subarray(at, end + 1));
      const key = span.map((token) => words[token]!).join(' ');
      const pair = found.get(key) ?? new Pair([a, b]);
      found.set(key, pair);
      pair.count++;
      if (pair.texts.at(-1) !== text) pair.texts.push(text);
      pair.forms.add(span.map((token) => forms[token]!).join(' '), initial[at] === 1);
      if (at > starts[text]!) pair.before.add(formAt(at - 1), false);
      if (end + 1 < limit) pair.behind.add(formAt(end + 1), false);
    }
  return found;
}

/** Where a phrase that begins at a token ends: at the next word, or behind one function word. */
function phraseEnd(tokens: Int32Array, at: number, usable: readonly boolean[]): number | undefined {
  const isWord = (place: number) => tokens[place] !== undefined && tokens[place] !== BREAK;
  const is = (place: number) => isWord(place) && usable[tokens[place]!]!;
  if (!is(at)) return undefined;
  if (is(at + 1)) return at + 1;
  return isWord(at + 1) && is(at + 2) ? at + 2 : undefined;
}

/** The written form of each word that texts have most often; beginnings of sentences count only where there is no other. */
export function writtenForms(surface: SurfaceWords, wanted: ReadonlySet<string>): Map<string, string> {
  const counts = new Map<string, FormCounts>();
  for (const [at, token] of surface.tokens.entries()) {
    if (token === BREAK) continue;
    const word = surface.words[token]!;
    if (!wanted.has(word)) continue;
    const known = counts.get(word) ?? new FormCounts();
    counts.set(word, known);
    known.add(surface.forms[token]!, surface.initial[at] === 1);
  }
  return new Map([...counts].map(([word, forms]) => [word, forms.commonest()]));
}

class FormCounts {
  readonly #inside = new Map<string, number>();
  readonly #initial = new Map<string, number>();

  add(form: string, initial: boolean): void {
    const counts = initial ? this.#initial : this.#inside;
    counts.set(form, (counts.get(form) ?? 0) + 1);
  }

  /** The form that is there so often, unless it is empty. */
  atLeast(count: number): string | undefined {
    const form = this.commonest();
    return form !== '' && this.#inside.get(form)! >= count ? form : undefined;
  }

  /** Of equally common ones the first in the texts. */
  commonest(): string {
    let best: [string, number] = ['', 0];
    for (const entry of this.#inside.size > 0 ? this.#inside : this.#initial)
      if (entry[1] > best[1]) best = entry;
    return best[0];
  }
}
