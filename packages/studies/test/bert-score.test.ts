import { readFixture } from '@hidden-schema/testing/closeness';
import { openPretrainedEncoder, type PretrainedEncoder } from '@hidden-schema/transformers';
import { beforeAll, describe, expect, test } from 'vitest';
import { type BertScore, BertScorer, greedyMatch, idfOf, rescaled } from '../src/measures/bert-score.ts';

interface Case {
  name: string;
  width: number;
  hypothesis: number[][];
  reference: number[][];
  hypothesis_weights: number[];
  reference_weights: number[];
  score: BertScore;
  baseline: BertScore;
  rescaled: BertScore;
}
const { cases, documents, idf } = readFixture<{
  cases: Case[];
  documents: number[][];
  idf: Record<string, number>;
}>('metrics/bert_score');

const keys = ['precision', 'recall', 'f1'] as const;

describe('BERTScore equals its definition', () => {
  test.each(cases)('$name', ({ width, score, baseline, ...given }) => {
    const of = (rows: number[][], weights: number[]) => ({
      vectors: Float64Array.from(rows.flat()),
      width,
      weights,
    });
    const found = greedyMatch(
      of(given.hypothesis, given.hypothesis_weights),
      of(given.reference, given.reference_weights),
    );
    const scaled = rescaled(found, baseline);
    for (const key of keys) {
      expect(found[key]).toBeCloseTo(score[key], 10);
      expect(scaled[key]).toBeCloseTo(given.rescaled[key], 10);
    }
  });

  test('idf', () => {
    const own = idfOf(documents);
    for (const [token, value] of Object.entries(idf)) expect(own(Number(token))).toBeCloseTo(value, 12);
  });

  test('a text without tokens scores 0', () => {
    const empty = { vectors: new Float64Array(), width: 2, weights: [] };
    const word = { vectors: Float64Array.of(1, 0), width: 2, weights: [1] };
    expect(greedyMatch(empty, word)).toMatchObject({ precision: 0, f1: 0 });
  });
});

describe('BERTScore by the embedded encoder', () => {
  let opened: PretrainedEncoder;
  beforeAll(async () => {
    opened = await openPretrainedEncoder();
    opened.encoder.train(false);
  });
  const near = ['to go home'];
  const far = ['a red bicycle'];

  test('the same text has 1, a near one more than a far one, the best reference counts', async () => {
    const scorer = await BertScorer.of(opened);
    const [same, like, other, best] = await scorer.score(
      ['to go home', 'to return home', 'to return home', 'to return home'],
      [near, near, far, [...far, ...near]],
    );
    expect(same!.f1).toBeCloseTo(1, 5);
    expect(like!.f1).toBeGreaterThan(other!.f1 + 0.1);
    expect(best).toEqual(like);
    const [batched] = await scorer.score(['to return home'], [near]);
    expect(batched).toEqual(like);
  });

  test('layers and idf change it; the embeddings alone are layer 0', async () => {
    const plain = await BertScorer.of(opened);
    const shallow = await BertScorer.of(opened, { layer: 0 });
    const weighed = await BertScorer.of(opened, { idf: ['to eat', 'to sleep', 'to run', 'home'] });
    const f1 = async (scorer: BertScorer) => (await scorer.score(['to go home'], [['to leave home']]))[0]!.f1;
    const values = [await f1(plain), await f1(shallow), await f1(weighed)];
    expect(new Set(values.map((value) => value.toFixed(6))).size).toBe(3);
    for (const value of values) expect(value).toBeGreaterThan(0.2);
  });

  test('refuses a layer that is not there', async () => {
    await expect(BertScorer.of(opened, { layer: 7 })).rejects.toThrow(
      "BERTScore's layer is a whole number from 0 to 6, got 7",
    );
  });
});
