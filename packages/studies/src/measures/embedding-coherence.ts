import { type Coherence, cosine, meanOfKnown } from './coherence.ts';

export interface EmbeddingCoherenceOptions {
  /** Words of a topic that count. */
  words?: number;
}

/**
 * Word-embedding coherence: mean cosine over the pairs of a topic's first words (Fang et al. 2016). Words without a
 * vector are left out.
 */
export function embeddingCoherence(
  topics: readonly (readonly string[])[],
  vectorOf: (word: string) => ArrayLike<number> | undefined,
  { words: most = 10 }: EmbeddingCoherenceOptions = {},
): Coherence {
  const values = topics.map((topic) => {
    const vectors = topic.slice(0, most).flatMap((word) => {
      const vector = vectorOf(word);
      return vector === undefined ? [] : [vector];
    });
    if (vectors.length < 2) return null;
    let sum = 0;
    for (const [i, a] of vectors.entries()) for (const b of vectors.slice(0, i)) sum += cosine(a, b);
    return sum / ((vectors.length * (vectors.length - 1)) / 2);
  });
  return { topics: values, mean: meanOfKnown(values) };
}
