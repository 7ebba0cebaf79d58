import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { walkFit } from '../src/measures/walk-fit.ts';

/** Numbers between −½ and ½, by a generator that is not the product's. */
function numbers(seed: number, rows: number, columns: number): number[][] {
  let state = seed;
  return Array.from({ length: rows }, () =>
    Array.from({ length: columns }, () => {
      state = (state * 48271) % 2147483647;
      return state / 2147483647 - 0.5;
    }),
  );
}

/** The definition, with nothing saved: every place added up anew for every text. */
function byHand(vectors: readonly (readonly number[])[], walks: readonly (readonly number[])[]) {
  const length = walks[0]!.length;
  const shares: number[][] = Array.from({ length }, () => []);
  let [repeats, unplaced, named] = [0, 0, 0];
  for (const [n, walk] of walks.entries()) {
    const cosines = new Map<number, number>();
    for (const symbol of new Set(walks.map(([first]) => first!))) {
      const texts = vectors.filter((_, m) => m !== n && walks[m]![0] === symbol);
      if (symbol < 0 || texts.length === 0) continue;
      const place = vectors[n]!.map((_, d) => texts.reduce((sum, v) => sum + v[d]!, 0) / texts.length);
      const along = place.reduce((sum, x, d) => sum + x * vectors[n]![d]!, 0);
      cosines.set(symbol, along / (Math.hypot(...place) * Math.hypot(...vectors[n]!)));
    }
    for (const [step, symbol] of walk.entries()) {
      if (symbol < 0) continue;
      if (walk.slice(0, step).includes(symbol)) {
        repeats++;
        continue;
      }
      named++;
      const others = [...cosines].filter(([other]) => other !== symbol);
      if (!cosines.has(symbol) || others.length === 0) unplaced++;
      else shares[step]!.push(others.filter(([, c]) => c < cosines.get(symbol)!).length / others.length);
    }
  }
  const mean = (values: number[]) =>
    values.length === 0 ? null : values.reduce((a, b) => a + b, 0) / values.length;
  return {
    steps: shares.map((all) => ({ fit: mean(all), texts: all.length })),
    later: mean(shares.slice(1).flat()),
    symbolsPerText: named / walks.length,
    repeats,
    unplaced,
  };
}

const measured = (vectors: readonly (readonly number[])[], walks: readonly (readonly number[])[]) =>
  walkFit(Float64Array.from(vectors.flat()), {
    symbols: Int32Array.from(walks.flat()),
    length: walks[0]!.length,
  });

describe('fit of walks', () => {
  test('is that of the definition, for walks that stay, come back, end early or name what no text begins with', () => {
    const draw = fc.integer({ min: 1, max: 5 }).chain((length) =>
      fc.array(fc.array(fc.integer({ min: -1, max: 6 }), { minLength: length, maxLength: length }), {
        minLength: 1,
        maxLength: 30,
      }),
    );
    fc.assert(
      fc.property(draw, fc.integer({ min: 1, max: 1e6 }), (walks, seed) => {
        const vectors = numbers(seed, walks.length, 4);
        const [found, expected] = [measured(vectors, walks), byHand(vectors, walks)];
        expect(found.steps.map(({ texts }) => texts)).toEqual(expected.steps.map(({ texts }) => texts));
        for (const [step, { fit }] of expected.steps.entries())
          if (fit === null) expect(found.steps[step]!.fit).toBeNull();
          else expect(found.steps[step]!.fit).toBeCloseTo(fit, 9);
        expect(found).toMatchObject({ repeats: expected.repeats, unplaced: expected.unplaced });
        expect(found.symbolsPerText).toBeCloseTo(expected.symbolsPerText, 12);
        if (expected.later !== null) expect(found.later).toBeCloseTo(expected.later, 9);
      }),
      { numRuns: 200, seed: 7 },
    );
  });

  test('is 1 for the symbol of the own group, and 0 for the one that is farthest', () => {
    const vectors = [...Array(4).fill([1, 0.1]), ...Array(4).fill([0.1, 1]), ...Array(4).fill([-1, 0])];
    const walks = [0, 1, 2].flatMap((k) => Array(4).fill([k, [2, 2, 1][k]!, k]));
    const { steps, symbolsPerText, repeats } = measured(vectors, walks);
    expect(steps).toEqual([
      { fit: 1, texts: 12 },
      { fit: expect.closeTo(1 / 6, 9), texts: 12 },
      { fit: null, texts: 0 },
    ]);
    expect({ symbolsPerText, repeats }).toEqual({ symbolsPerText: 2, repeats: 12 });
  });

  test('is one half where symbols say nothing of texts, and the own text lifts nothing', () => {
    const vectors = numbers(1, 2000, 8);
    const walks = numbers(2, 2000, 1).map(([x]) => [Math.floor((x! + 0.5) * 20)]);
    expect(Math.abs(measured(vectors, walks).steps[0]!.fit! - 0.5)).toBeLessThan(0.05);
  });

  test('refuses vectors of another number of texts', () => {
    expect(() => walkFit(new Float32Array(7), { symbols: Int32Array.of(0, 1), length: 1 })).toThrow(
      '2 vectors are expected, got 7 numbers',
    );
  });
});
