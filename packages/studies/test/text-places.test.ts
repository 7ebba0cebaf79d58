import { Random } from '@hidden-schema/base';
import { describe, expect, test } from 'vitest';
import { likeTexts, symbolLikeness, type WeightedWalks } from '../src/texts/text-neighbours.ts';
import { placeTexts } from '../src/texts/text-places.ts';

const SYMBOLS = 12;
const LENGTH = 4;
const KINDS = 3;

/** Texts of three kinds, each with four symbols of its own; the last step may be on any. */
function planted(texts: number): WeightedWalks {
  const random = new Random(3);
  const walks = new Uint16Array(texts * LENGTH);
  const weights = new Float32Array(texts * LENGTH);
  for (let n = 0; n < texts; n++)
    for (let step = 0; step < LENGTH; step++) {
      const own = 4 * (n % KINDS) + random.int(4);
      walks[n * LENGTH + step] = step === LENGTH - 1 ? random.int(SYMBOLS) : own;
      weights[n * LENGTH + step] = (0.5 + random.next()) / (1 + step);
    }
  return { walks, weights, symbols: SYMBOLS, length: LENGTH };
}

/** Weights over symbols. [N][K] */
function dense({ walks, weights, symbols, length }: WeightedWalks): number[][] {
  const texts = walks.length / length;
  return Array.from({ length: texts }, (_, n) => {
    const row = new Array<number>(symbols).fill(0);
    for (let at = n * length; at < (n + 1) * length; at++) row[walks[at]!]! += weights[at]!;
    return row;
  });
}
const dot = (a: readonly number[], b: readonly number[]) => a.reduce((sum, x, at) => sum + x * b[at]!, 0);
const cosine = (a: readonly number[], b: readonly number[]) => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));

describe('like texts', () => {
  const given = planted(300);
  const rows = dense(given);
  const columns = Array.from({ length: SYMBOLS }, (_, k) => rows.map((row) => row[k]!));

  test('symbols are as alike as the columns of weights', () => {
    const found = symbolLikeness(given);
    for (let i = 0; i < SYMBOLS; i++)
      for (let j = 0; j < SYMBOLS; j++)
        expect(found[i * SYMBOLS + j]).toBeCloseTo(cosine(columns[i]!, columns[j]!), 6);
  });

  test('those that are found are nearly as alike as the best of all pairs', () => {
    const likeness = symbolLikeness(given);
    // xᵀSy by S·y.
    const spread = rows.map((row) =>
      row.map((_, k) => row.reduce((sum, x, l) => sum + x * likeness[k * SYMBOLS + l]!, 0)),
    );
    const norms = rows.map((row, n) => Math.sqrt(dot(row, spread[n]!)));
    const alike = (n: number, m: number) => dot(rows[n]!, spread[m]!) / (norms[n]! * norms[m]!);
    const found = likeTexts(given, 5);
    let [own, best] = [0, 0];
    for (let n = 0; n < 300; n++) {
      const others = Array.from({ length: 300 }, (_, m) => m).filter((m) => m !== n);
      const nearest = others.map((m) => alike(n, m)).sort((a, b) => b - a);
      best += nearest.slice(0, 5).reduce((sum, x) => sum + x, 0);
      const five = Array.from(found.subarray(5 * n, 5 * n + 5));
      expect(new Set(five).size).toBe(5);
      expect(five).not.toContain(n);
      const values = five.map((m) => alike(n, m));
      expect(values).toEqual(values.toSorted((a, b) => b - a));
      own += values.reduce((sum, x) => sum + x, 0);
    }
    expect(own / best).toBeGreaterThan(0.98);
  });
});

describe('places of texts', () => {
  const symbolPlaces = Array.from({ length: 2 * SYMBOLS }, (_, at) => ((at * 7) % 11) / 11);

  test('lie in the unit square, and are the same every time', () => {
    const given = planted(200);
    const places = placeTexts(given, symbolPlaces);
    expect(places).toHaveLength(400);
    expect(places.every((value) => value >= 0 && value <= 1)).toBe(true);
    expect(placeTexts(given, symbolPlaces)).toEqual(places);
    for (const axis of [0, 1]) {
      const values = places.filter((_, at) => at % 2 === axis);
      expect(Math.max(...values) - Math.min(...values)).toBeGreaterThan(0.4);
    }
  });

  test('texts of a kind lie together: nearest neighbours in the plane are of the same', () => {
    const places = placeTexts(planted(300), symbolPlaces);
    const distance = (n: number, m: number) =>
      (places[2 * n]! - places[2 * m]!) ** 2 + (places[2 * n + 1]! - places[2 * m + 1]!) ** 2;
    let same = 0;
    for (let n = 0; n < 300; n++) {
      const others = Array.from({ length: 300 }, (_, m) => m).filter((m) => m !== n);
      const near = others.sort((a, b) => distance(n, a) - distance(n, b)).slice(0, 5);
      same += near.filter((m) => m % KINDS === n % KINDS).length / 5;
    }
    expect(same / 300).toBeGreaterThan(0.85);
  });

  test('no text, one text and the same text many times have places', () => {
    const of = (walks: number[]): WeightedWalks => ({
      ...{ walks, weights: new Float32Array(walks.length).fill(1), symbols: SYMBOLS, length: LENGTH },
    });
    expect(placeTexts(of([]), symbolPlaces)).toHaveLength(0);
    expect(Array.from(placeTexts(of([0, 1, 2, 3]), symbolPlaces))).toEqual([0.5, 0.5]);
    const same = placeTexts(of(Array.from({ length: 40 }, (_, at) => at % LENGTH)), symbolPlaces);
    expect(same.every(Number.isFinite)).toBe(true);
    expect(new Set(same).size).toBeGreaterThan(10);
  });
});
