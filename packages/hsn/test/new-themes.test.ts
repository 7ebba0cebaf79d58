import { Random } from '@hidden-schema/base';
import { setThreads, Tensor } from '@hidden-schema/torch';
import { describe, expect, test } from 'vitest';
import { newThemes } from '../src/discovery/new-themes.ts';
import { dot, unit } from './planted-points.ts';

setThreads(1);
const width = 32;
const random = new Random(3);
const axis = (k: number) => Array.from({ length: width }, (_, s) => (s === k ? 1 : 0));
/** Texts about an axis. */
const about = (k: number, count: number) =>
  Array.from({ length: count }, () => unit(axis(k).map((x) => x + 0.6 * (random.next() - 0.5))));
const tensor = (rows: number[][]) => Tensor.fromArray(Float32Array.from(rows.flat()), [rows.length, width]);
const symbols = tensor([0, 1, 2, 3].map(axis));
const before = [0, 1, 2, 3].flatMap((k) => about(k, 60));

describe('themes of added texts', () => {
  test('one that was not there is found once, where its texts are', () => {
    const added = [...[0, 1, 2, 3].flatMap((k) => about(k, 10)), ...about(7, 12)];
    const themes = newThemes({ before: tensor(before), added: tensor(added) }, symbols, 0);
    expect(themes).toHaveLength(1);
    expect(themes[0]!.added.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, n) => 40 + n));
    expect(themes[0]!.before).toBe(0);
    expect(dot(Array.from(themes[0]!.direction), axis(7))).toBeGreaterThan(0.95);
  });

  test('two are two', () => {
    const added = [...about(0, 20), ...about(7, 15), ...about(9, 10)];
    const themes = newThemes({ before: tensor(before), added: tensor(added) }, symbols, 0);
    expect(themes.map(({ added: own }) => own.length)).toEqual([15, 10]);
  });

  test.each([
    ['texts as before', [0, 1, 2, 3].flatMap((k) => about(k, 12))],
    ['a few strange texts', [...[0, 1, 2, 3].flatMap((k) => about(k, 12)), ...about(7, 3)]],
    [
      'strange texts that have nothing in common',
      [...about(0, 30), ...Array.from({ length: 12 }, (_, n) => axis(10 + n))],
    ],
  ])('%s make none', (_, added) => {
    expect(newThemes({ before: tensor(before), added: tensor(added) }, symbols, 0)).toEqual([]);
  });
});
