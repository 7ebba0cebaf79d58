import { highest } from '@hidden-schema/studies/measures/highest';

/** What a peer makes of N texts. */
export interface TopicModel {
  /** First words of each topic, the first one first. */
  readonly words: readonly (readonly string[])[];
  /** The topic of each text, or −1 where the model has none for it. [N] */
  readonly clusters: Int32Array;
}

/** Words of the largest weights of each topic; words without weight are no words of it. [V, K] */
export function wordsByWeight(
  vocabulary: readonly string[],
  weights: Float64Array,
  { topics: K, words: most = 10 }: { topics: number; words?: number },
): string[][] {
  const places = Uint32Array.from(vocabulary.keys());
  return Array.from({ length: K }, (_, k) => {
    const column = Float64Array.from(places, (word) => weights[word * K + k]!);
    const best = highest(column, places, most);
    return best.filter((word) => column[word]! > 0).map((word) => vocabulary[word]!);
  });
}

/** The place of the largest weight of each row, −1 where all are zero. [N, K] → [N] */
export function largestOfRows(weights: Float64Array, K: number): Int32Array {
  return Int32Array.from({ length: weights.length / K }, (_, row) => {
    let [best, most] = [-1, 0];
    for (let k = 0; k < K; k++) {
      const weight = weights[row * K + k]!;
      if (weight > most) [best, most] = [k, weight];
    }
    return best;
  });
}
