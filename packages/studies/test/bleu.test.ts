import { readFixture } from '@hidden-schema/testing/closeness';
import { describe, expect, test } from 'vitest';
import {
  BleuReferences,
  type BleuSmoothing,
  brevityPenalty,
  closestLength,
  corpusBleu,
  sentenceBleu,
} from '../src/measures/bleu.ts';
import { distinctN, novelty } from '../src/measures/diversity.ts';

interface Case {
  name: string;
  hypothesis: string[];
  references: string[][];
  hyp_len: number;
  closest_ref_len: number;
  brevity_penalty: number;
  unigram: [number, number];
  bigram: [number, number];
  sentence_bleu2: Record<BleuSmoothing, number>;
}
interface Fixture {
  cases: Case[];
  corpora: { name: string; cases: number[]; corpus_bleu2: Record<BleuSmoothing, number> }[];
}

const { cases, corpora } = readFixture<Fixture>('metrics/bleu2');
const methods: readonly BleuSmoothing[] = ['none', 'method1'];

describe('BLEU-2 equals NLTK', () => {
  test.each(cases)('$name', ({ hypothesis, references, ...expected }) => {
    const known = new BleuReferences(references);
    expect(known.clippedMatches(hypothesis, 1)).toEqual(expected.unigram);
    expect(known.clippedMatches(hypothesis, 2)).toEqual(expected.bigram);
    expect(
      closestLength(
        hypothesis.length,
        references.map((words) => words.length),
      ),
    ).toBe(expected.closest_ref_len);
    expect(brevityPenalty(hypothesis.length, expected.closest_ref_len)).toBeCloseTo(
      expected.brevity_penalty,
      10,
    );
    for (const smoothing of methods)
      expect(sentenceBleu(hypothesis, references, { smoothing }), smoothing).toBeCloseTo(
        expected.sentence_bleu2[smoothing],
        10,
      );
  });

  test.each(corpora)('a corpus: $name', ({ cases: chosen, corpus_bleu2 }) => {
    const some = chosen.map((at) => cases[at]!);
    for (const smoothing of methods)
      expect(
        corpusBleu(
          some.map(({ hypothesis }) => hypothesis),
          some.map(({ references }) => references),
          { smoothing },
        ),
        smoothing,
      ).toBeCloseTo(corpus_bleu2[smoothing], 10);
  });
});

describe('diversity and novelty', () => {
  test('distinct n-grams among all', () => {
    const texts = [['to', 'go', 'home'], ['to', 'go', 'out'], ['home']];
    expect(distinctN(texts, 1)).toBeCloseTo(4 / 7, 12);
    expect(distinctN(texts, 2)).toBeCloseTo(3 / 4, 12);
    expect(distinctN([['a']], 2)).toBe(0);
  });

  test('what train does not have', () => {
    expect(novelty(['a', 'b', 'c', 'a'], new Set(['a']))).toBe(0.5);
    expect(novelty([], new Set())).toBe(0);
  });
});
