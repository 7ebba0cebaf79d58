import type { Tokenizer } from './tokenizer/tokenizer.ts';

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

/** Part of a text, in UTF-16 units. */
interface Span {
  start: number;
  end: number;
}

/** A part of a text that a model reads at once, with its tokens. */
export interface TokenPassage extends Span {
  /** With the special tokens around them. */
  ids: Int32Array;
}

/**
 * A text cut into passages of at most `longest` tokens, special ones included: whole sentences where these fit, all
 * passages of about the same length, every token in one of them. A text that fits is one passage.
 */
export async function tokenPassages(
  text: string,
  tokenizer: Tokenizer,
  longest: number,
): Promise<TokenPassage[]> {
  const framed = { specials: true, literal: true };
  const [whole, empty] = await tokenizer.encodeBatch([text, ''], framed);
  const room = Math.max(1, longest - empty!.ids.length);
  if (whole!.ids.length <= longest) return [{ start: 0, end: text.length, ids: whole!.ids }];
  const spans = packed(await fittingSpans(text, tokenizer, room), room);
  const found: TokenPassage[] = [];
  for (let waiting = spans; waiting.length > 0; ) {
    const encoded = await tokenizer.encodeBatch(textsOf(text, waiting), framed);
    const left: Span[] = [];
    for (const [at, span] of waiting.entries()) {
      const { ids } = encoded[at]!;
      // Sentences together may have a token more than apart.
      if (ids.length > longest && span.end - span.start > 1) left.push(...halves(text, span));
      else found.push({ ...span, ids: ids.subarray(0, longest) });
    }
    waiting = left;
  }
  return found.sort((a, b) => a.start - b.start);
}

const textsOf = (text: string, spans: readonly Span[]): string[] =>
  spans.map(({ start, end }) => text.slice(start, end).trim());

interface CountedSpan extends Span {
  tokens: number;
}

/** The sentences of a text; one that has more tokens than there is room for, in parts. */
async function fittingSpans(text: string, tokenizer: Tokenizer, room: number): Promise<CountedSpan[]> {
  const fitting: CountedSpan[] = [];
  let waiting: Span[] = sentenceSpans(text).map(([start, end]) => ({ start, end }));
  while (waiting.length > 0) {
    const bare = { specials: false, literal: true };
    const encoded = await tokenizer.encodeBatch(textsOf(text, waiting), bare);
    const left: Span[] = [];
    for (const [at, span] of waiting.entries()) {
      const tokens = encoded[at]!.ids.length;
      if (tokens > room && span.end - span.start > 1) left.push(...halves(text, span));
      else if (tokens > 0) fitting.push({ ...span, tokens });
    }
    waiting = left;
  }
  return fitting.sort((a, b) => a.start - b.start);
}

/** Cut at the space nearest to the middle, or between two characters where there is none. */
function halves(text: string, { start, end }: Span): Span[] {
  const middle = (start + end) >> 1;
  for (let away = 0; away < middle - start; away++)
    for (const at of [middle + away, middle - away])
      if (at > start && at < end && /\s/.test(text[at]!)) return cutAt(at, start, end);
  // Never within a surrogate pair.
  const pair = /[\uDC00-\uDFFF]/.test(text[middle]!) && middle - 1 > start;
  return cutAt(Math.max(start + 1, pair ? middle - 1 : middle), start, end);
}

const cutAt = (at: number, start: number, end: number): Span[] => [
  { start, end: at },
  { start: at, end },
];

/** Neighbouring spans put together, as evenly as their number allows. */
function packed(spans: readonly CountedSpan[], room: number): Span[] {
  const passages: CountedSpan[] = [];
  let left = spans.reduce((sum, { tokens }) => sum + tokens, 0);
  let even = left / Math.max(1, Math.ceil(left / room));
  let open: CountedSpan | undefined;
  for (const span of spans) {
    if (open && (open.tokens + span.tokens > room || open.tokens + span.tokens / 2 > even)) {
      passages.push(open);
      left -= open.tokens;
      even = left / Math.max(1, Math.ceil(left / room));
      open = undefined;
    }
    open = open ? { start: open.start, end: span.end, tokens: open.tokens + span.tokens } : { ...span };
  }
  return open ? [...passages, open] : passages;
}
