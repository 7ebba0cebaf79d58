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
}

/**
 * Boolean counts over a window sliding by one word, a text shorter than the window being one window (Röder, Both &
 * Hinneburg 2015). `places` gives each word of the corpus its place among the R that matter, or −1. As gensim does, by
 * which published figures are made, a word is forgotten when its first place in the window has left it, though it be there
 * a second time, until it enters anew.
 */
export function windowCounts(
  { tokens, starts }: TextWords,
  places: Int32Array,
  R: number,
  { window = Number.POSITIVE_INFINITY }: WindowOptions = {},
): WindowCounts {
  const present = presentWords(R);
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
function presentWords(R: number) {
  const together = new Float64Array(R * R);
  const list: number[] = [];
  // Place in the list, while the word is in it.
  const place = new Uint32Array(R);
  const isThere = new Uint8Array(R);
  const since = new Float64Array(R);
  const drop = (word: number, now: number): void => {
    isThere[word] = 0;
    const last = list.pop()!;
    if (last !== word) {
      list[place[word]!] = last;
      place[last] = place[word]!;
    }
    together[word * R + word]! += now - since[word]!;
    for (const other of list) {
      const both = now - Math.max(since[word]!, since[other]!);
      together[word * R + other]! += both;
      together[other * R + word]! += both;
    }
  };
  const enter = (word: number, now: number): void => {
    if (word < 0 || isThere[word]) return;
    isThere[word] = 1;
    place[word] = list.length;
    since[word] = now;
    list.push(word);
  };
  const leave = (word: number, now: number): void => {
    if (word >= 0 && isThere[word]) drop(word, now);
  };
  const clear = (now: number): void => {
    for (const word of list.toReversed()) drop(word, now);
  };
  return { together, enter, leave, clear };
}
