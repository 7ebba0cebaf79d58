export interface TokenizeOptions {
  /** Fewest letters of a word that counts. */
  shortest?: number;
}

const anyRun = /[\p{L}\p{M}\p{N}]+(?:['’ʼ][\p{L}\p{M}]+)*/gu;
/** The same where a text is ASCII, and much faster. */
const plainRun = /[a-z0-9]+(?:'[a-z]+)*/g;
const plain = /^[\0-\x7f]*$/;
const apostrophe = /['’ʼ]/u;
const letter = /\p{L}/u;
/** Scripts that write words without spaces between them. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
/** English endings after an apostrophe that leave the word what it is. */
const endings = new Set(['s', 're', 've', 'll', 'd', 'm']);
let segmenter: Intl.Segmenter | undefined;

/** Runs of letters and digits, with apostrophes inside, in lower case. */
export function letterRuns(text: string): string[] {
  if (plain.test(text)) return text.toLowerCase().match(plainRun) ?? [];
  return text.normalize('NFC').toLowerCase().match(anyRun) ?? [];
}

/**
 * The words for counting that a run has, which may be none or several; each has a letter. "company's" is "company", "don't" stays one word,
 * other apostrophes part ("l'homme" is "homme"); scripts without spaces are cut by the dictionary of Unicode's
 * segmentation.
 */
export function wordsOfRun(run: string, { shortest = 2 }: TokenizeOptions): string[] {
  return parts(run).filter((part) => part.length >= shortest && letter.test(part));
}

function parts(run: string): readonly string[] {
  if (unspaced.test(run)) return segments(run);
  if (!apostrophe.test(run)) return [run];
  const pieces = run.split(apostrophe);
  const last = pieces.at(-1)!;
  if (pieces.length === 2 && last === 't' && run.startsWith('n', pieces[0]!.length - 1))
    return [`${pieces[0]}'t`];
  return endings.has(last) ? pieces.slice(0, -1) : pieces;
}

function segments(run: string): string[] {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'word' });
  const found: string[] = [];
  for (const { segment, isWordLike } of segmenter.segment(run)) if (isWordLike) found.push(segment);
  return found;
}

/** The words of N texts in order, each as a number: text n has `tokens` from `starts[n]` up to `starts[n + 1]`. */
export interface TextWords {
  /** Each different word once, by first appearance. */
  readonly words: readonly string[];
  readonly tokens: Uint32Array;
  /** [N + 1] */
  readonly starts: Uint32Array;
}

/** Reads texts one by one, keeping four bytes a word. */
export function textWords(texts: Iterable<string>, options: TokenizeOptions = {}): TextWords {
  const numbers = new Map<string, number>();
  const numbersOfRuns = new Map<string, readonly number[]>();
  const tokens = new Growing();
  const starts = new Growing();
  const learn = (run: string): readonly number[] => {
    const found = wordsOfRun(run, options).map((word) => {
      const number = numbers.get(word) ?? numbers.size;
      if (number === numbers.size) numbers.set(ownCopy(word), number);
      return number;
    });
    numbersOfRuns.set(ownCopy(run), found);
    return found;
  };
  for (const text of texts) {
    starts.push(tokens.length);
    for (const run of letterRuns(text))
      for (const number of numbersOfRuns.get(run) ?? learn(run)) tokens.push(number);
  }
  starts.push(tokens.length);
  return { words: [...numbers.keys()], tokens: tokens.taken(), starts: starts.taken() };
}

/** A long word cut from a text would keep the whole text in memory. */
function ownCopy(word: string): string {
  return word.length < 13 ? word : Buffer.from(word).toString();
}

export const textCount = (texts: { readonly starts: { readonly length: number } }): number =>
  texts.starts.length - 1;

/** How many texts have each word. [words] */
export function documentFrequencies({ words, tokens, starts }: TextWords): Uint32Array {
  const frequencies = new Uint32Array(words.length);
  const lastSeen = new Int32Array(words.length).fill(-1);
  for (let text = 0; text + 1 < starts.length; text++) {
    for (let at = starts[text]!; at < starts[text + 1]!; at++) {
      const word = tokens[at]!;
      if (lastSeen[word] === text) continue;
      lastSeen[word] = text;
      frequencies[word]!++;
    }
  }
  return frequencies;
}

class Growing {
  #numbers = new Uint32Array(1024);
  length = 0;

  push(value: number): void {
    if (this.length === this.#numbers.length) {
      const wider = new Uint32Array(2 * this.length);
      wider.set(this.#numbers);
      this.#numbers = wider;
    }
    this.#numbers[this.length++] = value;
  }

  taken(): Uint32Array {
    return this.#numbers.slice(0, this.length);
  }
}
