/** What becomes of an n-gram order without a match: nothing, or NLTK's smoothing method 1. */
export type BleuSmoothing = 'none' | 'method1';

/** Matches and totals of one order of n-grams. */
type Precision = readonly [matches: number, total: number];

/** NLTK's method 1 gives an order without a match this many. */
const littleMatch = 0.1;

export function ngrams(words: readonly string[], n: number): Map<string, number> {
  const counts = new Map<string, number>();
  for (let i = 0; i + n <= words.length; i++) {
    const key = words.slice(i, i + n).join('\0');
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/** References of one hypothesis after another: of each n-gram, how often the reference that has most has it. */
export class BleuReferences {
  readonly #most: readonly ReadonlyMap<string, number>[];
  readonly #lengths: readonly number[];

  /** Words of references, and the longest n-grams that are compared. */
  constructor(references: readonly (readonly string[])[], n = 2) {
    this.#most = orders(n).map((order) => mostOf(references.map((words) => ngrams(words, order))));
    this.#lengths = references.map((words) => words.length);
  }

  /** n-grams of a hypothesis that references have too, each at most as often as in the reference that has most. */
  clippedMatches(hypothesis: readonly string[], n: number): Precision {
    const most = this.#most[n - 1]!;
    let [matches, total] = [0, 0];
    for (const [gram, count] of ngrams(hypothesis, n)) {
      total += count;
      matches += Math.min(count, most.get(gram) ?? 0);
    }
    return [matches, Math.max(1, total)];
  }

  /** BLEU of a hypothesis, up to the n-grams that are compared. */
  bleu(hypothesis: readonly string[], smoothing: BleuSmoothing = 'none'): number {
    const precisions = this.#most.map((_, i) => this.clippedMatches(hypothesis, i + 1));
    const { length } = hypothesis;
    return combined(precisions, brevityPenalty(length, closestLength(length, this.#lengths)), smoothing);
  }
}

export function mostOf(counts: readonly ReadonlyMap<string, number>[]): Map<string, number> {
  const most = new Map<string, number>();
  for (const one of counts)
    for (const [gram, count] of one) if (count > (most.get(gram) ?? 0)) most.set(gram, count);
  return most;
}

/** The reference length nearest to the hypothesis's; of two as near the shorter. */
export function closestLength(length: number, references: readonly number[]): number {
  return references.reduce((best, next) => {
    const [a, b] = [Math.abs(best - length), Math.abs(next - length)];
    return b < a || (b === a && next < best) ? next : best;
  });
}

/** exp(1 − r/c) for a hypothesis shorter than its reference. */
export function brevityPenalty(length: number, reference: number): number {
  if (length > reference) return 1;
  return length === 0 ? 0 : Math.exp(1 - reference / length);
}

/** The geometric mean of smoothed precisions, all orders weighing alike; 0 where not a single word matches. */
export function combined(
  precisions: readonly Precision[],
  penalty: number,
  smoothing: BleuSmoothing,
): number {
  if (precisions[0]![0] === 0) return 0;
  const least = smoothing === 'method1' ? littleMatch : 0;
  const values = precisions.map(([matches, total]) => (matches > 0 ? matches : least) / total);
  if (values.some((value) => value === 0)) return 0;
  return penalty * Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

const orders = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

/** BLEU up to n-grams of one hypothesis against all its references (Papineni et al.), in words. */
export function sentenceBleu(
  hypothesis: readonly string[],
  references: readonly (readonly string[])[],
  { n = 2, smoothing = 'none' }: { n?: number; smoothing?: BleuSmoothing } = {},
): number {
  return new BleuReferences(references, n).bleu(hypothesis, smoothing);
}

/** BLEU of a corpus: matches, totals and lengths summed before they are divided. */
export function corpusBleu(
  hypotheses: readonly (readonly string[])[],
  references: readonly (readonly (readonly string[])[])[],
  { n = 2, smoothing = 'none' }: { n?: number; smoothing?: BleuSmoothing } = {},
): number {
  const known = references.map((some) => new BleuReferences(some, n));
  const precisions = orders(n).map((order) => {
    const all = hypotheses.map((words, i) => known[i]!.clippedMatches(words, order));
    return all.reduce<Precision>(([m, t], [matches, total]) => [m + matches, t + total], [0, 0]);
  });
  const length = hypotheses.reduce((sum, words) => sum + words.length, 0);
  const closest = hypotheses.reduce(
    (sum, words, i) =>
      sum +
      closestLength(
        words.length,
        references[i]!.map((one) => one.length),
      ),
    0,
  );
  return combined(precisions, brevityPenalty(length, closest), smoothing);
}

/** Words as BLEU and the figures of diversity compare them. */
export const bleuWords = (text: string): string[] => text.toLowerCase().split(/\s+/).filter(Boolean);
