export interface TokenizeOptions {
  /** Fewest letters of a word that counts. */
  shortest?: number;
  /** Whether words without a letter ("1987") count. */
  numbers?: boolean;
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
 * The words for counting that a run has, which may be none or several. "company's" is "company", "don't" stays one word,
 * other apostrophes part ("l'homme" is "homme"); scripts without spaces are cut by the dictionary of Unicode's
 * segmentation.
 */
export function wordsOfRun(run: string, { shortest = 2, numbers = false }: TokenizeOptions): string[] {
  return parts(run).filter((part) => part.length >= shortest && (numbers || letter.test(part)));
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
