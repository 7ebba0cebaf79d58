import { describe, expect, test } from 'vitest';
import { nearestWalks } from '../src/measures/highest.ts';
import { labelMaps } from '../src/measures/label-maps.ts';
import { linkStrengths, poissonInterval, strongestLinks } from '../src/measures/link-strength.ts';
import { predictLabels } from '../src/measures/prediction.ts';
import { stepWeights, withoutStays } from '../src/measures/symbol-uses.ts';
import { SymbolTally } from '../src/symbols/symbol-tally.ts';

describe('how much a step counts', () => {
  test('the first fully, stays not at all, others by what they tell beside the first', () => {
    expect(stepWeights([4, 2, 7, 7, 7], [0.5, 0.25, 0.75, 0, 0])).toEqual([1, 0.5, 1, 0, 0]);
    expect(stepWeights([4, 4, 4])).toEqual([1, 0, 0]);
    expect(stepWeights([4, 2, 2])).toEqual([1, 1, 0]);
    expect(stepWeights([4, 2], [0, 0.3])).toEqual([1, 1]);
    expect(withoutStays([4, 2, 2, 7, 7])).toEqual([4, 2, 7]);
  });

  test('in what symbols are used for, and in which labels', () => {
    const tally = new SymbolTally(3, 3, 2);
    tally.add({ walk: [0, 0, 0] }, 0, new Set());
    tally.add({ walk: [0, 1, 1], weights: [0.8, 0.2, 0] }, 1, new Set());
    // Weights: 0 has 2, 1 has 0.25.
    expect(tally.usage(0).usage).toBeCloseTo(2 / 2.25, 12);
    expect(tally.usage(1)).toEqual({ usage: 0.25 / 2.25, usageByPosition: [0, 0.5, 0], sentences: 1 });
    expect(tally.labels(0).map(({ share }) => share)).toEqual([0.5, 0.5]);
    expect(tally.labels(1)).toEqual([{ label: 1, share: 1, lift: 2 }]);
  });

  test('in maps of labels and in walks that are alike', () => {
    const walks = [0, 0, 0, 0, 1, 1];
    const labelled = { walks, length: 3, symbols: 2, labels: ['a', 'b'], labelOf: [0, 1] };
    const { all, maps } = labelMaps(labelled);
    expect([...all.nodes]).toEqual([2 / 3, 1 / 3]);
    expect(maps[0]!.edges).toEqual([]);
    expect(maps[1]!.edges).toEqual([{ i: 0, j: 1, share: 1 }]);
    const weighed = labelMaps({ ...labelled, weights: [1, 0, 0, 1, 0.5, 0] });
    expect([...weighed.all.nodes]).toEqual([0.8, 0.2]);
    // A move to a symbol that tells nothing of the text is none: shares of no moves at all would not be numbers.
    const silent = labelMaps({ ...labelled, weights: [1, 0, 0, 1, 0, 0] });
    expect([silent.all.edges, silent.edgeDivergence]).toEqual([
      [],
      [
        [0, 0],
        [0, 0],
      ],
    ]);
    // Both stay on 2, which is one symbol in common and not two steps.
    const near = nearestWalks(Uint16Array.from([1, 2, 2, 3, 3, 3]), 3, [0, 2, 2]);
    expect(near[0]).toEqual({ index: 0, shared: 1, common: 1 });
    expect(near[1]).toEqual({ index: 1, shared: 0, common: 0 });
  });

  test('what predicts a label is not spoilt by weak later steps', () => {
    // The first symbol tells the label; the second, which tells little of its text, is chance.
    const count = 120;
    const walks = Array.from({ length: count }, (_, n) => [
      n % 2,
      2 + ((n * 7) % 4),
      2 + ((n * 7) % 4),
    ]).flat();
    const weights = Array.from({ length: count }, () => [1, 0.1, 0]).flat();
    const labelOf = Array.from({ length: count }, (_, n) => n % 2);
    const found = predictLabels({ walks, length: 3, symbols: 6, labels: ['a', 'b'], labelOf, weights });
    expect(found.accuracy.share).toBe(1);
  });
});

describe('strength of links', () => {
  const walks = [0, 1, 1, 1, 0, 0, 0, 2, 3, 2, 3, 3];

  test('flow beside what pairs of ends by chance would make', () => {
    // Moves: 0–1 twice, 0–2 once, 2–3 twice; ends: 0 three, 1 two, 2 three, 3 two; M = 5.
    const found = linkStrengths({ walks, symbols: 4, length: 3 });
    const of = (i: number, j: number) => found.find((link) => link.i === i && link.j === j)!;
    expect(of(0, 1)).toMatchObject({ flow: 2, expected: 0.6 });
    expect(of(0, 2)).toMatchObject({ flow: 1, expected: 0.9 });
    expect(of(0, 1).lift).toBeCloseTo(2 / 0.6, 12);
    const [low, high] = poissonInterval(2);
    expect(of(0, 1).interval[0]).toBeCloseTo(low / 0.6, 12);
    expect(of(0, 1).interval[1]).toBeCloseTo(high / 0.6, 12);
    expect(found).toHaveLength(3);
    expect(strongestLinks(found, 1).every(({ interval }) => interval[0] > 1)).toBe(true);
  });

  test('the interval of a count is near the exact one', () => {
    // From the chi-square quantiles: 10 → 4.795, 18.390; 100 → 81.364, 121.627.
    for (const [count, low, high] of [
      [10, 4.7954, 18.3904],
      [100, 81.3639, 121.6272],
    ] as const) {
      const found = poissonInterval(count);
      expect(found[0]).toBeCloseTo(low, 1);
      expect(found[1]).toBeCloseTo(high, 1);
    }
    expect(poissonInterval(0)[0]).toBe(0);
  });
});
