import type { TextWords } from './text-words.ts';

/** In how many windows of a corpus each of R words is, and each pair of them. */
export interface WindowCounts {
  readonly windows: number;
  /** Symmetric; a word's own count is on the diagonal. [R, R] */
  readonly together: Float64Array;
}

export interface WindowOptions {
  /** Words a window; without it each text is one window. */
  window?: number;
  /**
   * gensim forgets a word when its first place in the window has left it, though it be there a second time, until it
   * enters anew. Published figures are made so; false counts every window that has the word.
   */
  asGensim?: boolean;
}

/**
 * Boolean counts over a window sliding by one word, a text shorter than the window being one window (Röder, Both &
 * Hinneburg 2015). `places` gives each word of the corpus its place among the R that matter, or −1.
 */
export function windowCounts(
  { tokens, starts }: TextWords,
  places: Int32Array,
  R: number,
  { window = Number.POSITIVE_INFINITY, asGensim = true }: WindowOptions = {},
): WindowCounts {
  const present = new PresentWords(R, asGensim);
  let windows = 0;
  for (let text = 0; text + 1 < starts.length; text++) {
    const [from, to] = [starts[text]!, starts[text + 1]!];
    const first = Math.min(to, from + window);
    for (let at = from; at < first; at++) present.enter(places[tokens[at]!]!, windows);
    for (let at = first; at < to; at++) {
      windows++;
      present.leave(places[tokens[at - window]!]!, windows);
      present.enter(places[tokens[at]!]!, windows);
    }
    windows++;
    present.clear(windows);
  }
  return { windows, together: present.together };
}

/** Words in the window and since when, so that a pair costs work when one leaves and not in every window. */
class PresentWords {
  readonly together: Float64Array;
  readonly #R: number;
  readonly #forgetful: boolean;
  readonly #list: number[] = [];
  /** Place in the list, while there are copies of the word. */
  readonly #place: Uint32Array;
  readonly #copies: Uint32Array;
  readonly #since: Float64Array;

  constructor(R: number, forgetful: boolean) {
    this.#R = R;
    this.#forgetful = forgetful;
    this.together = new Float64Array(R * R);
    this.#place = new Uint32Array(R);
    this.#copies = new Uint32Array(R);
    this.#since = new Float64Array(R);
  }

  enter(word: number, now: number): void {
    if (word < 0) return;
    if (this.#copies[word]! > 0) {
      if (!this.#forgetful) this.#copies[word]!++;
      return;
    }
    this.#copies[word] = 1;
    this.#place[word] = this.#list.length;
    this.#since[word] = now;
    this.#list.push(word);
  }

  leave(word: number, now: number): void {
    if (word < 0 || this.#copies[word] === 0) return;
    this.#copies[word]!--;
    if (this.#copies[word] === 0) this.#drop(word, now);
  }

  clear(now: number): void {
    for (let word = this.#list.at(-1); word !== undefined; word = this.#list.at(-1)) {
      this.#copies[word] = 0;
      this.#drop(word, now);
    }
  }

  #drop(word: number, now: number): void {
    const last = this.#list.pop()!;
    if (last !== word) {
      this.#list[this.#place[word]!] = last;
      this.#place[last] = this.#place[word]!;
    }
    const since = this.#since[word]!;
    this.together[word * this.#R + word]! += now - since;
    for (const other of this.#list) {
      const both = now - Math.max(since, this.#since[other]!);
      this.together[word * this.#R + other]! += both;
      this.together[other * this.#R + word]! += both;
    }
  }
}
