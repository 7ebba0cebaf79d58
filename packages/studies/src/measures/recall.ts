import { rougeWords } from './rouge.ts';

/** Texts that are the same but for capitals, punctuation and spaces have the same key. */
export const answerKey = (text: string): string => rougeWords(text).join(' ') || text.trim().toLowerCase();

/** The first `most` different texts, as they were first written; empty ones are no answers. */
export function distinctAnswers(texts: readonly string[], most: number): string[] {
  const found = new Map<string, string>();
  for (const text of texts) {
    if (found.size === most) break;
    const key = answerKey(text);
    if (key !== '' && !found.has(key)) found.set(key, text);
  }
  return [...found.values()];
}

/** Share of the different references, of at most `most` that could be found, among the first `most` different answers. */
export function recallAt(most: number, answers: readonly string[], references: readonly string[]): number {
  const wanted = new Set(references.map(answerKey));
  const found = distinctAnswers(answers, most).filter((answer) => wanted.has(answerKey(answer)));
  return wanted.size === 0 ? 0 : found.length / Math.min(most, wanted.size);
}
