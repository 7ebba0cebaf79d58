import { readFixture } from '@hidden-schema/testing/closeness';
import { describe, expect, test } from 'vitest';
import { bleuWords, corpusBleu, sentenceBleu } from '../src/measures/bleu.ts';
import { pairedDifference } from '../src/measures/bootstrap.ts';
import { distinctN } from '../src/measures/diversity.ts';
import { distinctAnswers, recallAt } from '../src/measures/recall.ts';
import { rougeL } from '../src/measures/rouge.ts';

interface Case {
  hypothesis: string;
  references: string[];
  sentence: Record<'none' | 'method1', number[]>;
  rouge_l: number;
}
interface Fixture {
  cases: Case[];
  corpus: Record<'none' | 'method1', number[]>;
  distinct: Record<'1' | '2', number>;
}

const { cases, corpus, distinct } = readFixture<Fixture>('metrics/text_scores');
const methods = ['none', 'method1'] as const;
const orders = [1, 2, 3, 4];

describe('scores equal those of NLTK and rouge-score', () => {
  test.each(cases)('$hypothesis', ({ hypothesis, references, sentence, rouge_l }) => {
    const [own, others] = [bleuWords(hypothesis), references.map(bleuWords)];
    for (const smoothing of methods)
      for (const n of orders)
        expect(sentenceBleu(own, others, { n, smoothing }), `${smoothing} ${n}`).toBeCloseTo(
          sentence[smoothing][n - 1]!,
          10,
        );
    expect(rougeL(hypothesis, references)).toBeCloseTo(rouge_l, 10);
  });

  test('of the corpus', () => {
    const own = cases.map(({ hypothesis }) => bleuWords(hypothesis));
    const others = cases.map(({ references }) => references.map(bleuWords));
    for (const smoothing of methods)
      for (const n of orders)
        expect(corpusBleu(own, others, { n, smoothing })).toBeCloseTo(corpus[smoothing][n - 1]!, 10);
    expect(distinctN(own, 1)).toBeCloseTo(distinct[1], 10);
    expect(distinctN(own, 2)).toBeCloseTo(distinct[2], 10);
  });
});

describe('recall of references', () => {
  test('counts different answers once, whatever their capitals and commas', () => {
    expect(distinctAnswers(['To go.', 'to go', '', 'happy', 'sad'], 2)).toEqual(['To go.', 'happy']);
    expect(recallAt(2, ['To go.', 'to go', 'happy'], ['happy', 'to go', 'sad'])).toBe(1);
    expect(recallAt(10, ['To go', 'other'], ['to go.', 'TO GO', 'sad'])).toBe(1 / 2);
    expect(recallAt(1, ['other', 'sad'], ['sad'])).toBe(0);
  });
});

describe('the paired bootstrap', () => {
  test('has the normal interval of many pairs, and knows ties', () => {
    const ours = Array.from({ length: 4000 }, (_, i) => Math.sin(i * i));
    const theirs = ours.map((score, i) => score - 0.05 - 0.4 * Math.cos(i * 1.7));
    const gains = ours.map((score, i) => score - theirs[i]!);
    const mean = gains.reduce((sum, gain) => sum + gain, 0) / gains.length;
    const variance = gains.reduce((sum, gain) => sum + (gain - mean) ** 2, 0) / gains.length;
    const half = 1.96 * Math.sqrt(variance / gains.length);
    const { difference, low, high } = pairedDifference(ours, theirs, { draws: 2000 });
    expect(difference).toBeCloseTo(mean, 12);
    expect(Math.abs(low - (mean - half)) / half).toBeLessThan(0.1);
    expect(Math.abs(high - (mean + half)) / half).toBeLessThan(0.1);
    expect(pairedDifference(ours, ours)).toEqual({ difference: 0, low: 0, high: 0 });
    expect(() => pairedDifference([1], [])).toThrow(/pairs of scores were expected, got 1 and 0/);
  });
});
