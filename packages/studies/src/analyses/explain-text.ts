import { Random, UserError } from '@hidden-schema/base';
import type { LanguageRun } from '@hidden-schema/hsn';
import { dot } from '../measures/dot.ts';
import { type GroupShare, groupShare } from '../measures/groups.ts';
import { mcNemarExact } from '../measures/proportions.ts';
import { wordsOf } from '../texts/words.ts';

/** A word of a text, and which symbol of the walk it carries. */
export interface ExplainedWord {
  word: string;
  /** Its place in the text, in UTF-16 units. */
  start: number;
  end: number;
  /** The symbol that it carries; null where it carries none. */
  symbol: number | null;
  /** How much less near the text is to that symbol without the word, from 0 to 1 for the word that matters most. */
  weight: number;
}

/** Which words of a text carry which symbol of its walk. */
export interface ExplainedText {
  text: string;
  walk: number[];
  /** The walk's symbols, each once, with the cosine of text and symbol. */
  symbols: { symbol: number; closeness: number }[];
  words: ExplainedWord[];
  /** "occlusion": each word is left out in turn. */
  method: 'occlusion';
  /** Words after the first `mostWords`, which were not tried. */
  untried: number;
}

const mostWords = 400;
/** Words that matter less to a symbol than this share of its first word, or of the text's first word, carry nothing. */
const leastWeight = { ofSymbol: 0.3, ofText: 0.15 };

/** Leaves each word out in turn and sees how much less near the text is to the symbols of its walk. */
export async function explainText(run: LanguageRun, text: string): Promise<ExplainedText> {
  checkSpace(run);
  const all = wordsOf(text);
  const words = all.slice(0, mostWords);
  const { walks } = await run.texts.read([text]);
  const walk = walks[0]!.walk;
  const [whole, ...without] = (await run.texts.points([
    text,
    ...words.map(({ start, end }) => text.slice(0, start) + text.slice(end)),
  ]))!;
  const vectors = run.texts.symbolVectors();
  const symbols = [...new Set(walk)].map((symbol) => ({ symbol, closeness: dot(vectors[symbol]!, whole!) }));
  // What a text is not near to at all no word carries.
  const drops = symbols.map(({ symbol, closeness }) =>
    without.map((point) => (closeness > 0 ? closeness - dot(vectors[symbol]!, point) : 0)),
  );
  const most = drops.map((of) => Math.max(0, ...of));
  const least = leastWeight.ofText * Math.max(...most);
  const explainedWords = words.map((word, at): ExplainedWord => {
    const weights = drops.map((of, k) => (most[k]! > 0 ? of[at]! / most[k]! : 0));
    const carried = drops.map((of, k) =>
      weights[k]! >= leastWeight.ofSymbol && of[at]! >= least ? of[at]! : 0,
    );
    const best = carried.indexOf(Math.max(...carried));
    const carries = carried[best]! > 0;
    return { ...word, symbol: carries ? symbols[best]!.symbol : null, weight: carries ? weights[best]! : 0 };
  });
  const untried = all.length - words.length;
  return { text, walk, symbols, words: explainedWords, method: 'occlusion', untried };
}

/** Whether words that are said to carry a symbol do: how often the first symbol changes when they are left out. */
export interface Faithfulness {
  texts: number;
  /** Texts whose first symbol changes without the words that carry it, and without as many other words drawn at random. */
  without: GroupShare;
  random: GroupShare;
  /** Words left out of a text, on average. */
  words: number;
  /** McNemar's exact test, two-sided. */
  p: number;
}

/** Measures explanations on texts: leaving out the words that carry the first symbol, beside as many others at random. */
export async function explanationFaithfulness(
  run: LanguageRun,
  texts: readonly string[],
  options: { seed?: number; signal?: AbortSignal; onProgress?: (done: number, total: number) => void } = {},
): Promise<Faithfulness> {
  const random = new Random(options.seed ?? 1);
  const changed: [own: boolean, other: boolean][] = [];
  let removed = 0;
  for (const [at, text] of texts.entries()) {
    options.signal?.throwIfAborted();
    const { walk, words } = await explainText(run, text);
    const [carrying, others] = [true, false].map((wanted) =>
      words.filter(({ symbol }) => (symbol === walk[0]) === wanted),
    ) as [ExplainedWord[], ExplainedWord[]];
    if (carrying.length > 0 && others.length >= carrying.length) {
      removed += carrying.length;
      const drawn = random.shuffle(others).slice(0, carrying.length);
      const { walks } = await run.texts.read([carrying, drawn].map((some) => withoutWords(text, some)));
      changed.push([walks[0]!.walk[0] !== walk[0], walks[1]!.walk[0] !== walk[0]]);
    }
    options.onProgress?.(at + 1, texts.length);
  }
  const N = changed.length;
  const count = (which: (own: boolean, other: boolean) => boolean) =>
    changed.filter(([own, other]) => which(own, other)).length;
  const [onlyOwn, onlyOther] = [count((own, other) => own && !other), count((own, other) => other && !own)];
  const both = count((own, other) => own && other);
  return {
    texts: N,
    without: groupShare(onlyOwn + both, N),
    random: groupShare(onlyOther + both, N),
    words: N === 0 ? 0 : removed / N,
    p: mcNemarExact(onlyOwn, onlyOther),
  };
}

function checkSpace(run: LanguageRun): void {
  if (run.model.encoder.reads === 'points') return;
  throw new UserError(
    `${run.run.directory} reads walks by queries, which do not say where symbols lie; explain takes a run whose symbols were discovered (encoder.walks: pursuit)`,
  );
}

function withoutWords(text: string, words: readonly ExplainedWord[]): string {
  let left = text;
  for (const { start, end } of words.toSorted((a, b) => b.start - a.start))
    left = left.slice(0, start) + left.slice(end);
  return left;
}
