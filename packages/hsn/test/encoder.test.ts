import { Generator, scope, Tensor } from '@hidden-schema/torch';
import { sinusoidalPositions } from '@hidden-schema/transformers';
import { describe, expect, test } from 'vitest';
import { TransformerEncoder } from '../src/encoder/transformer.ts';

const [B, T, K, V] = [4, 6, 5, 20];
const options = {
  width: 8,
  heads: 2,
  hidden: 12,
  blocks: 2,
  dropout: 0.3,
  vocabulary: V,
  length: T,
  symbols: K,
};
const data = Int32Array.from({ length: B * T }, (_, i) => (i * i + 3 * i) % V);
const tokens = (rows: number[] = [0, 1, 2, 3]) =>
  Tensor.fromArray(Int32Array.from(rows.flatMap((row) => [...data.subarray(row * T, (row + 1) * T)])), [
    rows.length,
    T,
  ]);

const near = (a: number[], b: number[]) => Math.max(...a.map((value, i) => Math.abs(value - b[i]!)));

test('positions are sines and cosines of falling frequencies', () => {
  scope(() => {
    const positions = sinusoidalPositions(7, 6);
    expect(positions.shape).toEqual([7, 6]);
    const rows = positions.toNumbers();
    const at = (t: number, d: number) => rows[t * 6 + d];
    expect([at(0, 0), at(0, 1), at(0, 4), at(0, 5)]).toEqual([0, 1, 0, 1]);
    expect(at(1, 0)).toBeCloseTo(Math.sin(1), 14);
    expect(at(1, 1)).toBeCloseTo(Math.cos(1), 14);
    expect(at(3, 2)).toBeCloseTo(Math.sin(3 / 10000 ** (2 / 6)), 14);
    expect(at(6, 5)).toBeCloseTo(Math.cos(6 / 10000 ** (4 / 6)), 14);
  });
});

describe.each(['position', 'queries'] as const)('the %s readout', (readout) => {
  const encoder = new TransformerEncoder({ ...options, readout }, new Generator(4));

  test('gives a score for every sentence, step and symbol', () => {
    scope(() => {
      expect(encoder.train().scores({ tokens: tokens() }).shape).toEqual([B, T, K]);
      const names = [...encoder.namedParameters()].map(([name]) => name);
      expect(names.includes('queries')).toBe(readout === 'queries');
      expect(names.some((name) => name.startsWith('readout.'))).toBe(readout === 'queries');
    });
  });

  test('reads a sentence the same alone and in a batch', () => {
    scope(() => {
      encoder.train(false);
      const all = encoder.scores({ tokens: tokens() }).toNumbers();
      for (const row of [0, 3]) {
        const alone = encoder.scores({ tokens: tokens([row]) }).toNumbers();
        expect(near(alone, all.slice(row * T * K, (row + 1) * T * K))).toBeLessThan(1e-5);
      }
      const turned = encoder.scores({ tokens: tokens([3, 2, 1, 0]) }).toNumbers();
      expect(near(turned.slice(0, T * K), all.slice(3 * T * K))).toBeLessThan(1e-5);
      expect(near(all.slice(0, T * K), all.slice(T * K, 2 * T * K))).toBeGreaterThan(1e-3);
    });
  });

  test('knows the place of a token', () => {
    scope(() => {
      encoder.train(false);
      const same = Tensor.fromArray(new Int32Array(T).fill(7), [1, T]);
      const scores = encoder.scores({ tokens: same }).toNumbers();
      expect(near(scores.slice(0, K), scores.slice(K, 2 * K))).toBeGreaterThan(1e-3);
    });
  });

  test('drops units in training only, by its own generator', () => {
    scope(() => {
      const once = encoder.train().scores({ tokens: tokens() }).toNumbers();
      expect(near(once, encoder.scores({ tokens: tokens() }).toNumbers())).toBeGreaterThan(1e-3);
      encoder.train(false);
      const quiet = encoder.scores({ tokens: tokens() }).toNumbers();
      expect(encoder.scores({ tokens: tokens() }).toNumbers()).toEqual(quiet);
    });
  });

  test('a seed gives the same weights', () => {
    scope(() => {
      const twin = new TransformerEncoder({ ...options, readout }, new Generator(4)).train(false);
      const other = new TransformerEncoder({ ...options, readout }, new Generator(5)).train(false);
      const scores = encoder.train(false).scores({ tokens: tokens() }).toNumbers();
      expect(twin.scores({ tokens: tokens() }).toNumbers()).toEqual(scores);
      expect(near(other.scores({ tokens: tokens() }).toNumbers(), scores)).toBeGreaterThan(1e-3);
      twin.free();
      other.free();
    });
  });
});
