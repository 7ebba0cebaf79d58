import { isLikely } from '@hidden-schema/hsn/graph/likely';
import { type Agreement, agreement } from './agreement.ts';
import { cvCoherence, gensimEpsilon, npmiCoherence } from './coherence.ts';
import { linearReaderAccuracy, walkFeatures } from './linear-reader.ts';
import type { WordLists } from './symbol-names.ts';
import type { SymbolUses } from './symbol-uses.ts';
import type { TextWords } from './text-words.ts';

/** Share of different words among all topics' first words (Dieng, Ruiz & Blei 2020); 1 is all different, null no words. */
export function topicDiversity(
  topics: readonly (readonly string[])[],
  { words: most = 10 }: { words?: number } = {},
): number | null {
  const all = topics.flatMap((topic) => topic.slice(0, most));
  return all.length === 0 ? null : new Set(all).size / all.length;
}

// Shapes: N texts, L steps, K symbols.

/**
 * How words are counted in another corpus than that of the symbols: as gensim's c_npmi does, together where ten words in a
 * row have both. Pairs that a small corpus never has together weigh less so than at −1, and scores follow people better.
 */
export const referenceWindow = { window: 10, epsilon: gensimEpsilon } as const;

/** How well the words of symbols go together in the texts, and how far they differ between symbols. */
export function wordFigures(words: TextWords, lists: WordLists) {
  return {
    npmi: npmiCoherence(words, lists).mean,
    cv: cvCoherence(words, lists).mean,
    diversity: topicDiversity(lists),
  };
}

/**
 * First symbols and whole walks against the labels of the texts that have one. `coefficients` [N, L] say how much of its
 * text each step tells, where a model knows it: a second reader is told of them.
 */
export function labelFigures(
  labels: readonly (string | undefined)[],
  { symbols, length }: SymbolUses,
  K: number,
  coefficients?: ArrayLike<number>,
) {
  const rows = labels.flatMap((label, row) => (label === undefined ? [] : [row]));
  const wanted = rows.map((row) => labels[row]!);
  const first = rows.map((row) => symbols[row * length]!);
  const { nmi, ami, purity }: Agreement = agreement(wanted, first, { outlier: -1 });
  // A column for each symbol at each step: a linear reader sees the walk's order.
  const steps = Int32Array.from({ length: rows.length * length }, (_, at) => {
    const symbol = symbols[rows[Math.floor(at / length)]! * length + (at % length)]!;
    return symbol < 0 ? -1 : symbol + (at % length) * K;
  });
  const features = walkFeatures({ symbols: steps, length }, K * length);
  const reader = linearReaderAccuracy(features, wanted).accuracy;
  if (!coefficients) return { nmi, ami, purity, reader };
  const own = (of: ArrayLike<number>) =>
    rows.flatMap((row) => Array.from({ length }, (_, step) => of[row * length + step]!));
  const weighed = { symbols: Int32Array.from(own(symbols)), length, weights: own(coefficients) };
  const reader_weighed = linearReaderAccuracy(walkFeatures(weighed, K), wanted).accuracy;
  return { nmi, ami, purity, reader, reader_weighed };
}

/** Share of the moves of walks that follow links of probability above one half; nothing where walks have one step. */
export function linkedShare(
  { symbols, length }: SymbolUses,
  linkProbabilities: ArrayLike<number>,
): number | undefined {
  const K = Math.sqrt(linkProbabilities.length);
  let [moves, linked] = [0, 0];
  for (let at = 0; at < symbols.length; at++) {
    if (at % length === 0) continue;
    moves++;
    if (isLikely(linkProbabilities[symbols[at - 1]! * K + symbols[at]!]!)) linked++;
  }
  return moves === 0 ? undefined : linked / moves;
}

/** Folds of the linear reader: a label of fewer texts cannot be in each. */
const fewestOfLabel = 3;

export interface ComparableLabels {
  /** Of each text where labels can be compared with; undefined for a text without one. */
  labels?: readonly (string | undefined)[];
  /** Why labels are not compared with, where there are some. */
  note?: string;
}

/** Labels that say something of texts: two or more, and not one for each text. */
export function comparableLabels(labels: readonly (string | undefined)[]): ComparableLabels {
  const known = labels.filter((label) => label !== undefined);
  if (known.length === 0) return {};
  const different = new Set(known).size;
  if (different === 1) return { note: 'all labels are the same, so nothing is compared with them' };
  if (known.length < fewestOfLabel * different)
    return {
      note: `${different} labels for ${known.length} texts are names rather than groups, so nothing is compared with them`,
    };
  return { labels };
}
