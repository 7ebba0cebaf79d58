import type { Tuple } from '@hidden-schema/hsn';
import { describe, expect, test } from 'vitest';
import type { BertScorer } from '../src/measures/bert-score.ts';
import { expectedFirst, readSearch } from '../src/reasoning/answers.ts';
import { answerFigures, type Scoring, withoutNone } from '../src/reasoning/figures.ts';
import { Floors } from '../src/reasoning/floors.ts';

/** A corpus of training tuples, as scoring and floors read one. */
function corpusOf(tuples: readonly Tuple[]): NonNullable<Scoring['corpus']> {
  const table = { tuple: (row: number) => tuples[row]! };
  const train = Int32Array.from(tuples.keys());
  return { table, splits: { train } } as unknown as NonNullable<Scoring['corpus']>;
}

const tuple = (head: string, relation: string, object: string): Tuple => ({ head, relation, object });
const zero = { precision: 0, recall: 0, f1: 0 };
/** Texts are alike or not at all: what BERTScore is has a test of its own. */
const scorer = {
  score: async (texts: readonly string[], others: readonly (readonly string[])[]) =>
    texts.map((text, i) => ({ ...zero, f1: Number(others[i]!.includes(text)) })),
} as unknown as BertScorer;
const scoring: Scoring = { corpus: corpusOf([tuple('e', 'xWant', 'to sleep')]), scorer, baseline: zero };

describe('figures of answers', () => {
  const answered = [
    { head: 'a', relation: 'xWant', references: ['to go home', 'to sleep'], answers: ['to go home'] },
    {
      head: 'a',
      relation: 'xReact',
      references: ['happy', 'sad', 'none', 'tired'],
      answers: ['none', 'sad'],
    },
    { head: 'a', relation: 'oWant', references: ['none', 'None', 'to wave'], answers: ['none'] },
    { head: 'b', relation: 'oWant', references: ['none'], answers: ['to wave'] },
  ];

  test('with "none": COMET leaves out what mostly says it, recall counts it', async () => {
    const { figures, scores } = await answerFigures(answered, scoring);
    expect(Object.keys(figures.bleu2_by_relation)).toEqual(['xWant', 'xReact']);
    // One word that matches, a bigram that cannot: NLTK's method 1 gives √(1 · 0.1).
    expect(figures.bleu2_by_relation.xReact).toBeCloseTo(Math.sqrt(0.1), 10);
    expect(scores.recall_10).toEqual([1 / 2, 2 / 4, 1 / 2, 0]);
    expect(figures.bert_recall_10).toBeCloseTo((1 / 2 + 2 / 4 + 1 / 3 + 0) / 4, 10);
    expect(figures.novel_objects).toBe(1);
  });

  test('without "none": questions that say nothing else are gone, and the next answer counts', async () => {
    const real = withoutNone(answered);
    expect(real.map(({ answers }) => answers)).toEqual([['to go home'], ['sad'], []]);
    const { figures, scores } = await answerFigures(real, scoring);
    expect(figures.questions).toBe(3);
    expect(scores.recall_10).toEqual([1 / 2, 1 / 3, 0]);
    expect(figures.bleu_sentence[0]).toBeCloseTo(2 / 3, 10);
  });
});

describe('floors', () => {
  const floors = new Floors(
    corpusOf([
      ...['e1', 'e2', 'e3'].map((head) => tuple(head, 'xWant', 'to sleep now')),
      ...['e1', 'e2'].map((head) => tuple(head, 'xWant', 'to go')),
      tuple('e1', 'xReact', 'happy'),
    ]),
  );

  test('the constant answer is the best of each relation, the commonest others after it', () => {
    const [want, react, strange] = floors.constant([
      { head: 'new', relation: 'xWant', references: ['x'] },
      { head: 'new', relation: 'xReact', references: ['x'] },
      { head: 'new', relation: 'other', references: ['x'] },
    ]);
    expect(want!.answers).toEqual(['to sleep now', 'to go']);
    expect(react!.answers).toEqual(['happy']);
    expect(strange!.answers).toEqual([]);
  });

  test('events that lie near in the encoder speak for a new one; the vote is of their objects', async () => {
    const near = new Floors(
      corpusOf([
        tuple('PersonX drinks coffee', 'xReact', 'awake'),
        tuple('PersonX drinks a cup of tea', 'xReact', 'calm'),
        tuple('PersonX drinks hot tea', 'xReact', 'calm'),
        tuple('PersonX repairs the engine of a car', 'xReact', 'proud'),
      ]),
    );
    const asked = [{ head: 'PersonX repairs a car engine', relation: 'xReact', references: ['x'] }];
    const { nearest, vote, kernel } = await near.near(asked);
    expect(nearest[0]!.answers[0]).toBe('proud');
    expect(vote[0]!.answers[0]).toBe('calm');
    // All four say calm most; of the events that are heard, by far the nearest says proud.
    expect(kernel[0]!.answers).toEqual(['proud', 'calm', 'awake']);
    // What the relation has most often, and then what near events say.
    const [pool] = await near.pools(asked, 3);
    expect(pool!.objects).toEqual(['calm', 'proud', 'awake']);
    const [small] = await near.pools(asked, 1);
    expect(small!.objects).toEqual(['calm']);
  });
});

test('the first answer is the one with the highest BLEU-2 that a model expects, the others stay in their order', () => {
  const question = { head: 'a', relation: 'xWant', references: ['x'] };
  const found = [
    { object: 'sleep', score: -1 },
    { object: 'to go home', score: -1.2 },
    { object: 'to go home now', score: -1.3 },
    { object: 'to eat', score: -4 },
  ];
  // Alone the most probable, but two others that are nearly as probable say nearly the same.
  expect(expectedFirst([question], [found])[0]!.answers).toEqual([
    'to go home',
    'sleep',
    'to go home now',
    'to eat',
  ]);
  expect(expectedFirst([question], [[]])[0]!.answers).toEqual([]);
});

test.each([
  ['greedy', { how: 'greedy', count: 1 }],
  ['beam10', { how: 'beam', count: 10 }],
  ['sample5', { how: 'sample', count: 5 }],
  ['rank50', { how: 'rank', count: 50 }],
])('a search by name: %s', (text, search) => expect(readSearch(text)).toEqual(search));

test.each(['beam', 'greedy3', 'beam0', 'sample5x', 'best'])('%s is no search', (text) =>
  expect(() => readSearch(text)).toThrow(/a search is greedy, or beam, sample or rank with a number/),
);
