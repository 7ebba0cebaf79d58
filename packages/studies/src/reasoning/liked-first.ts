import { BleuIndex } from '../measures/bleu-index.ts';

/** Objects that may be right, and how much speaks for them. */
export interface Weighed {
  objects: readonly string[];
  weight: number;
}

/** Texts with that one first which has the highest weighed mean BLEU-2 against lists of others. */
export function byExpectedBleu(texts: readonly string[], lists: readonly Weighed[]): string[] {
  if (texts.length === 0) return [];
  const index = new BleuIndex(lists.map(({ objects }) => objects));
  const score = (text: string) =>
    index.against(text).reduce((sum, value, list) => sum + lists[list]!.weight * value, 0);
  const scores = new Map(texts.map((text) => [text, score(text)]));
  const best = texts.reduce((a, b) => (scores.get(b)! > scores.get(a)! ? b : a));
  return [best, ...texts.filter((text) => text !== best)];
}
