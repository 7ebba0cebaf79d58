import { expect, test } from 'vitest';
import { roomFor } from '../src/page/texts/map-labels.ts';

const size = { width: 640, height: 400 };

test('words that would cover others, or the edge, are left out', () => {
  const word = (x: number, y: number, width = 80) => ({ x, y, width });
  const words = [
    word(320, 200),
    word(350, 205),
    word(320, 225),
    word(20, 100),
    word(500, 20),
    word(500, 200),
  ];
  expect(roomFor(words, size)).toEqual([words[0], words[2], words[5]]);
});

test('a name stands under its disc, else above or beside it; none covers another', () => {
  const named = (x: number, y: number) => ({ x, y, width: 60, radius: 6 });
  const crowd = Array.from({ length: 40 }, (_, at) => named(200 + 9 * (at % 8), 150 + 11 * (at >> 3)));
  const placed = roomFor(crowd, size);
  expect(placed.length).toBeGreaterThan(4);
  expect(roomFor([named(200, 150)], size)).toMatchObject([{ x: 200, y: 166 }]);
  // A disc below is not covered where there is room above.
  expect(roomFor([named(200, 150), named(200, 170)], size)[0]).toMatchObject({ x: 200, y: 134 });
  for (const [at, a] of placed.entries())
    for (const b of placed.slice(at + 1))
      expect(Math.abs(a.x - b.x) >= 60 || Math.abs(a.y - b.y) >= 16).toBe(true);
});

test('more names find room from near', () => {
  const crowd = Array.from({ length: 40 }, (_, at) => ({
    x: 9 * (at % 8),
    y: 11 * (at >> 3),
    width: 60,
    radius: 6,
  }));
  const from = (zoom: number) =>
    roomFor(
      crowd.map((one) => ({ ...one, x: 60 + zoom * one.x, y: 60 + zoom * one.y })),
      { width: 4000, height: 4000 },
    ).length;
  expect(from(2)).toBeGreaterThan(from(1));
  expect(from(12)).toBe(40);
});
