import { describe, expect, test } from 'vitest';
import type { AnswerPool } from '../src/reasoning/answer-pools.ts';
import { mixedAnswers, mixedObjects } from '../src/reasoning/mixture.ts';
import { fitMixture, type MixtureWeights } from '../src/reasoning/mixture-fit.ts';

const numbers = (seed: number) => {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return state / 2 ** 31;
  };
};

/** Pools of eight objects; which of them are references depends on both parts, and by chance. */
function pools(count: number): AnswerPool[] {
  const next = numbers(7);
  return Array.from({ length: count }, (_, n) => {
    const objects = Array.from({ length: 8 }, (_, i) => ({
      object: `o${i}`,
      walk: [0, 1],
      walkLogProb: 0,
      expected: 0,
      scores: { near: -4 * next(), writer: -8 * next() },
    }));
    const odds = objects.map(({ scores }) => Math.exp(scores.near + 0.5 * scores.writer));
    const total = odds.reduce((sum, one) => sum + one, 0);
    const draw = next() * total;
    let below = 0;
    const hit = odds.findIndex((one) => {
      below += one;
      return below >= draw;
    });
    return {
      ...{ head: `e${n}`, relation: n % 2 ? 'r' : 's', references: [`O${Math.max(0, hit)}.`] },
      ...{ objects, near: [], first: [0] },
    };
  });
}

/** Mean log p of references, written apart from the code that is tested. */
function likelihood(all: readonly AnswerPool[], near: number, writer: number): number {
  const logs = all.map(({ objects, references }) => {
    const scores = objects.map((one) => near * one.scores.near! + writer * one.scores.writer!);
    const total = Math.log(scores.reduce((sum, score) => sum + Math.exp(score), 0));
    return scores[Number(references[0]!.slice(1, -1))]! - total;
  });
  return logs.reduce((sum, one) => sum + one, 0) / logs.length;
}

describe('weights of a mixture', () => {
  const all = pools(400);
  const { shared, relations } = fitMixture(all, ['near', 'writer']);

  test('make references likeliest: no step in any direction is better', () => {
    const best = likelihood(all, shared.near!, shared.writer!);
    for (const [a, b] of [
      [0.1, 0],
      [-0.1, 0],
      [0, 0.1],
      [0, -0.1],
    ] as const)
      expect(likelihood(all, shared.near! + a, shared.writer! + b)).toBeLessThan(best);
    expect(shared.near).toBeCloseTo(1, 0);
    expect(shared.writer! / shared.near!).toBeCloseTo(0.5, 0);
  });

  test('of a relation fit its own questions better than those of all', () => {
    const own = all.filter(({ relation }) => relation === 'r');
    const { near, writer } = relations.r!;
    expect(likelihood(own, near!, writer!)).toBeGreaterThan(likelihood(own, shared.near!, shared.writer!));
  });
});

describe('answers of a mixture', () => {
  const weights: MixtureWeights = {
    parts: ['near', 'writer'],
    shared: { near: 1, writer: 0.5 },
    relations: {},
  };
  const object = (text: string, [near, writer, expected]: readonly [number, number, number]) => ({
    ...{ object: text, walk: [0, 1], walkLogProb: 0, expected },
    scores: { near, writer },
  });
  const pool: AnswerPool = {
    ...{ head: 'e', relation: 'xWant', references: [], near: [], first: [0] },
    objects: [
      object('to sleep', [-1, -2, 0.2]),
      object('to go home', [-1.5, -2, 0.3]),
      object('to eat', [-1, -8, 0.1]),
    ],
  };

  test('go by the sum of parts; what parts add tells two objects apart exactly', () => {
    const mixed = mixedObjects(pool, weights);
    expect(mixed.map((one) => one.object)).toEqual(['to sleep', 'to go home', 'to eat']);
    expect(mixed.reduce((sum, one) => sum + one.probability, 0)).toBeCloseTo(1, 10);
    const [first, second] = mixed as [(typeof mixed)[0], (typeof mixed)[0]];
    const gap = (['near', 'writer'] as const).reduce(
      (sum, part) => sum + first.parts[part]! - second.parts[part]!,
      0,
    );
    expect(gap).toBeCloseTo(Math.log(first.probability / second.probability), 10);
  });

  test('begin with the one of which most BLEU-2 is expected', () => {
    expect(mixedAnswers(pool, weights).answers).toEqual(['to go home', 'to sleep', 'to eat']);
  });
});
