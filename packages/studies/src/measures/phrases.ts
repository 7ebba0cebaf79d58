import { wordsOfRun } from './text-words.ts';

/** Words of texts as they are written, for phrases and capitals. */
export interface SurfaceWords {
  /** Different written forms, by first appearance: "York", "york". */
  readonly forms: readonly string[];
  /** The word that each form is written for, in lower case. [forms] */
  readonly words: readonly string[];
  /** Forms of all texts in order; `BREAK` where more than a space or a hyphen stands between two. */
  readonly tokens: Int32Array;
  /** 1 where a form begins a sentence, so that its capital says nothing. [tokens] */
  readonly initial: Uint8Array;
  /** Text n has tokens from `starts[n]` up to `starts[n + 1]`. [N + 1] */
  readonly starts: Uint32Array;
}

export const BREAK = -1;

const letterRun = /[\p{L}\p{M}\p{N}]+(?:['’ʼ][\p{L}\p{M}]+)*/gu;
const joining = /^[ \u00a0\t-]$/;
const sentenceEnd = /[.!?:\n"“]/;

/** Reads texts one by one; a number parts words as punctuation does. */
export function surfaceWords(texts: Iterable<string>): SurfaceWords {
  const numbers = new Map<string, number>();
  const words: string[] = [];
  const [tokens, initial, starts]: [number[], number[], number[]] = [[], [], [0]];
  const push = (token: number, first: boolean): void => {
    tokens.push(token);
    initial.push(first ? 1 : 0);
  };
  const numberOf = (written: string, word: string): number => {
    const start = written.toLowerCase().lastIndexOf(word);
    const form = start < 0 ? word : written.slice(start, start + word.length);
    const known = numbers.get(form);
    if (known !== undefined) return known;
    numbers.set(form, words.length);
    return words.push(word) - 1;
  };
  for (const text of texts) {
    for (const { run, parted, first } of lettersOf(text.normalize('NFC'))) {
      if (parted) push(BREAK, false);
      const parts = wordsOfRun(run.toLowerCase(), { shortest: 1 });
      if (parts.length === 0) push(BREAK, false);
      // "York's" is "York"; a run of several words (Chinese, "l'homme") has no capitals to keep.
      else if (parts.length === 1) push(numberOf(run, parts[0]!), first);
      else for (const part of parts) push(numberOf(part, part), first);
    }
    starts.push(tokens.length);
  }
  return {
    ...{ forms: [...numbers.keys()], words, tokens: Int32Array.from(tokens) },
    ...{ initial: Uint8Array.from(initial), starts: Uint32Array.from(starts) },
  };
}

/** Runs of letters of a text: whether more than a space or a hyphen stands before one, and whether it begins a sentence. */
function* lettersOf(text: string): Generator<{ run: string; parted: boolean; first: boolean }> {
  let end = 0;
  for (const match of text.matchAll(letterRun)) {
    const gap = text.slice(end, match.index);
    yield {
      run: match[0],
      parted: end > 0 && !joining.test(gap),
      first: end === 0 || sentenceEnd.test(gap),
    };
    end = match.index + match[0].length;
  }
}

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
const pairOf = (words: readonly [string, string]) => ({
  words,
  count: 0,
  texts: [] as number[],
  forms: new FormCounts(),
  before: new FormCounts(),
  behind: new FormCounts(),
});
type Pair = ReturnType<typeof pairOf>;

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
      const pair = found.get(key) ?? pairOf([a, b]);
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
