import { wordsOfRun } from './tokenize.ts';

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
  const reader = new SurfaceReader();
  for (const text of texts) reader.read(text.normalize('NFC'));
  return reader.result();
}

class SurfaceReader {
  readonly #numbers = new Map<string, number>();
  readonly #words: string[] = [];
  readonly #tokens: number[] = [];
  readonly #initial: number[] = [];
  readonly #starts = [0];

  read(text: string): void {
    let end = 0;
    for (const match of text.matchAll(letterRun)) {
      const gap = text.slice(end, match.index);
      if (end > 0 && !joining.test(gap)) this.#push(BREAK, false);
      const first = end === 0 || sentenceEnd.test(gap);
      end = match.index + match[0].length;
      const parts = wordsOfRun(match[0].toLowerCase(), { shortest: 1 });
      if (parts.length === 0) this.#push(BREAK, false);
      // "York's" is "York"; a run of several words (Chinese, "l'homme") has no capitals to keep.
      else if (parts.length === 1) this.#push(this.#numberOf(match[0], parts[0]!), first);
      else for (const part of parts) this.#push(this.#numberOf(part, part), first);
    }
    this.#starts.push(this.#tokens.length);
  }

  #numberOf(written: string, word: string): number {
    const start = written.toLowerCase().lastIndexOf(word);
    const form = start < 0 ? word : written.slice(start, start + word.length);
    const known = this.#numbers.get(form);
    if (known !== undefined) return known;
    this.#numbers.set(form, this.#words.length);
    this.#words.push(word);
    return this.#words.length - 1;
  }

  #push(token: number, initial: boolean): void {
    this.#tokens.push(token);
    this.#initial.push(initial ? 1 : 0);
  }

  result(): SurfaceWords {
    return {
      forms: [...this.#numbers.keys()],
      words: this.#words,
      tokens: Int32Array.from(this.#tokens),
      initial: Uint8Array.from(this.#initial),
      starts: Uint32Array.from(this.#starts),
    };
  }
}
