import { describe, expect, test } from 'vitest';
import { ratingTable, topicScores, whereKnown } from '../../../bench/human-ratings.ts';
import { spearman } from '../../../bench/rank-correlation.ts';

describe('rank correlation', () => {
  // Numbers of scipy.stats.spearmanr.
  test.each([
    [[1, 2, 3, 4, 5], [5, 6, 7, 8, 7], 0.8207826816681233],
    [[0.3, 0.1, 0.1, 2.5, -4, 0.3, 0.3], [1, 1, 2, 3, 0, 7, 1], 0.6213885099044939],
    [[3, 1, 2], [1, 2, 3], -0.5],
    [[1e-9, 2, 2, 2, 1e9, -5, 0.5, 8], [8, 3, 1, 2, 5, 9, 4, 4], -0.4172485896227435],
  ])('of %j and %j is that of scipy', (a, b, expected) => {
    expect(spearman(a, b)).toBeCloseTo(expected, 12);
    expect(spearman(b, a)).toBeCloseTo(expected, 12);
  });

  test('is none where a side is constant, or where there is nothing', () => {
    expect([spearman([1, 1, 1], [1, 2, 3]), spearman([], [])]).toEqual([null, null]);
    expect(() => spearman([1], [1, 2])).toThrow('as many values on both sides are expected, got 1 and 2');
  });
});

describe('the table of what people said', () => {
  const topics = (count: number) => Array.from({ length: count }, (_, k) => [`word${k}`, `other${k}`]);
  const ratings = {
    here: {
      a: {
        topics: topics(3),
        metrics: {
          score: [1, 2, 3],
          score_there: [3, null, 1],
          ratings_scores_avg: [1, 2, 3],
          intrusion_scores_avg: [0.9, 0.5, 0.1],
          ratings_scores_raw: [[1], [2], [3]],
        },
      },
    },
    there: {
      b: {
        topics: topics(2),
        metrics: {
          score: [4, 3],
          score_here: [5, 6],
          ratings_scores_avg: [2.5, 2.75],
          intrusion_scores_avg: [0.2, 0.3],
        },
      },
    },
  };
  const cells = (table: string, name: string) =>
    table
      .split('\n')
      .find((line) => line.startsWith(`| ${name} `) && !line.includes('ratings,'))!
      .split('|')
      .slice(2, -1)
      .map((cell) => cell.trim());

  test('has a score of another corpus under one name, and counts the topics that have both values', async () => {
    const found = await topicScores(ratings, {
      ours: async (some) => some.map((_, at) => at),
    });
    const table = ratingTable(found);
    // The columns of all topics are scipy's.
    expect(cells(table, 'score')).toEqual(['1.000', '-1.000', '0.667', '-1.000', '-1.000', '-0.821', '5']);
    expect(cells(table, 'score elsewhere')).toEqual([
      ...['-1.000', '1.000', '-0.200', '1.000', '1.000', '0.400'],
      '4',
    ]);
    expect(cells(table, 'ours').slice(0, 2)).toEqual(['1.000', '1.000']);
    expect(table).not.toContain('raw');
  });

  test('can be made of the topics alone that a score has', async () => {
    const found = await topicScores(ratings, {});
    const table = ratingTable(whereKnown(found, 'score elsewhere'));
    expect(cells(table, 'score').at(-1)).toBe('4');
    expect(cells(table, 'score')[0]).toBe('1.000');
  });
});
