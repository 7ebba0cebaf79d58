import { BleuReferences, bleuWords } from '../measures/bleu.ts';

/** Objects that may be right, and how much speaks for them. */
export interface Weighed {
  objects: readonly string[];
  weight: number;
}

/** Texts with that one first which has the highest weighed mean BLEU-2 against lists of others. */
export function byExpectedBleu(texts: readonly string[], lists: readonly Weighed[]): string[] {
  if (texts.length === 0) return [];
  const tried = lists.map(({ objects, weight }) => ({
    expected: new BleuReferences(objects.map(bleuWords)),
    weight,
  }));
  const score = (text: string) => {
    const words = bleuWords(text);
    return tried.reduce((sum, { expected, weight }) => sum + weight * expected.bleu(words, 'method1'), 0);
  };
  const scores = new Map(texts.map((text) => [text, score(text)]));
  const best = texts.reduce((a, b) => (scores.get(b)! > scores.get(a)! ? b : a));
  return [best, ...texts.filter((text) => text !== best)];
}
