/** Words that a point follows without ending a sentence. */
const abbreviations = new Set(
  [
    'mr mrs ms dr messrs prof rev hon gen lieut lt col maj capt sgt adm commo gov sen rep pres st jr sr mt ft',
    'art sec secs vol vols chap ch pp vs viz etc cf al ibid dept co corp inc ltd bros',
    'jan feb mar apr jun jul aug sept sep oct nov dec',
  ].flatMap((line) => line.split(' ')),
);
/** Only before a number: "No. 5", but "No. We will not." */
const beforeNumbers = new Set(['no', 'nos', 'p', 'art', 'sec']);

/** Where a sentence may end: its signs, closing quotes and brackets, space, and what begins the next. */
const possibleEnd = /[.!?]+["'”’)\]]*(\s+)(?=["'“‘([]*[\p{Lu}\p{N}])/gu;
const lastWord = /([\p{L}\p{N}.]+)[.!?]+["'”’)\]]*$/u;

/** Where the sentences of a text in English begin and end: abbreviations, initials and numbers with points end none. */
export function sentenceSpans(text: string): [start: number, end: number][] {
  const spans: [number, number][] = [];
  let start = 0;
  for (const found of text.matchAll(possibleEnd)) {
    const end = found.index + found[0].length;
    if (!endsHere(text.slice(start, end - found[1]!.length), text[end]!)) continue;
    spans.push([start, end]);
    start = end;
  }
  if (start < text.length) spans.push([start, text.length]);
  return spans;
}

/** The sentences of a text, each on one line. */
export function sentencesOf(text: string): string[] {
  return sentenceSpans(text)
    .map(([start, end]) => flat(text.slice(start, end)))
    .filter((sentence) => sentence !== '');
}

function endsHere(before: string, next: string): boolean {
  if (/[!?]["'”’)\]]*$/.test(before)) return true;
  const word = (lastWord.exec(before)?.[1] ?? '').replace(/^\.+/, '');
  const numbered = /\p{N}/u.test(next);
  const small = word.toLowerCase();
  if (beforeNumbers.has(small) && numbered) return false;
  // An initial, and letters with points between as in "U.S." and "a.m."; "I" ends sentences.
  if (/^(?:\p{L}\.)*\p{L}$/u.test(word) && word !== 'I') return false;
  return !abbreviations.has(small);
}

const flat = (text: string): string => text.replace(/\s+/g, ' ').trim();

const wordCount = (text: string): number => text.match(/\S+/g)?.length ?? 0;

/**
 * A text cut at the ends of sentences into passages of at least so many words; what is left at the end goes to the last
 * one. A text of fewer words is one passage, an empty one none.
 *
 * @example
 * const parts = passagesOf(speech, 50);
 */
export function passagesOf(text: string, leastWords: number): string[] {
  const passages: string[][] = [];
  let open: string[] = [];
  let words = 0;
  for (const sentence of sentencesOf(text)) {
    open.push(sentence);
    words += wordCount(sentence);
    if (words < leastWords) continue;
    passages.push(open);
    [open, words] = [[], 0];
  }
  if (open.length > 0 && passages.length > 0) passages.at(-1)!.push(...open);
  else if (open.length > 0) passages.push(open);
  return passages.map((sentences) => sentences.join(' '));
}
