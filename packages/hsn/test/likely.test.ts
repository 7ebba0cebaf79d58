import { tensor } from '@hidden-schema/torch';
import { expect, test } from 'vitest';
import { countLikelyLinks, isLikely, likelyLinks } from '../src/graph/likely.ts';

// Pairs at 0.51, 0.5 and 0.49: only the first is more probable than not.
const probabilities = () =>
  tensor([
    [0, 0.51, 0.5],
    [0.51, 1, 0.49],
    [0.5, 0.49, 0],
  ]);

test('a link is likely above one half, and not at it', () => {
  expect([0.51, 0.5, 0.49].map(isLikely)).toEqual([true, false, false]);
  expect(likelyLinks(probabilities()).toNumbers()).toEqual([0, 1, 0, 1, 1, 0, 0, 0, 0]);
});

test('a pair that is linked both ways is one link, and a symbol linked to itself none', () => {
  expect(countLikelyLinks(probabilities())).toBe(1);
});
