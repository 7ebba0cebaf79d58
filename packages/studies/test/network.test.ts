import { describe, expect, test } from 'vitest';
import { networkFigure } from '../src/drawing/network-figure.ts';
import { type Box, spreadBoxes } from '../src/drawing/spread-boxes.ts';
import { linkStrengths, scaledLinks } from '../src/measures/link-strength.ts';
import { symbolYears } from '../src/symbols/symbol-years.ts';

describe('years of symbols', () => {
  const walks = [
    [0, 1],
    [0, 2],
    [0, 1],
    [0, 1],
    [1, 0],
    [2, 1],
  ];
  const encoded = { count: walks.length, symbols: 4, walk: (at: number) => walks[at]! };

  test('middle and quartiles of the texts in which a symbol comes first', () => {
    const years = [1900, 1800, 1850, 1810, 1999, undefined];
    expect(symbolYears(encoded, (at) => years[at])).toEqual([
      { middle: 1830, quartiles: [1807.5, 1862.5], texts: 4 },
      { middle: 1999, quartiles: [1999, 1999], texts: 1 },
      undefined,
      undefined,
    ]);
  });
});

describe('links that are drawn', () => {
  /** 40 walks 0–1, 30 walks 2–3, one 0–2, and as many walks that stay. */
  const texts = [
    ...Array.from({ length: 40 }, () => [0, 1, 1]),
    ...Array.from({ length: 30 }, () => [3, 2, 2]),
    [0, 2, 2],
    ...Array.from({ length: 71 }, () => [1, 1, 1]),
  ];
  const encoded = { walks: Uint16Array.from(texts.flat()), symbols: 4, length: 3 };

  test('the strongest of each symbol that are taken more often than by chance, by log lift', () => {
    const [first, second, ...rest] = scaledLinks(linkStrengths(encoded), 1);
    expect(rest).toEqual([]);
    expect([first!.slice(0, 2), second!.slice(0, 2)]).toEqual([
      [2, 3],
      [0, 1],
    ]);
    expect(first![2]).toBe(1);
    const [strong, weak] = linkStrengths(encoded).map(({ interval }) => Math.log(interval[0]));
    expect(second![2]).toBeCloseTo(weak! / strong!, 12);
    expect(scaledLinks(linkStrengths({ ...encoded, walks: new Uint16Array(0) }), 3)).toEqual([]);
  });
});

describe('boxes', () => {
  const area = { left: 0, top: 0, right: 400, bottom: 300 };
  const overlap = (a: Box, b: Box) =>
    Math.abs(a.x - b.x) < (a.width + b.width) / 2 - 1e-9 &&
    Math.abs(a.y - b.y) < (a.height + b.height) / 2 - 1e-9;

  test('that lie on each other are moved apart and stay in the area', () => {
    const boxes = Array.from({ length: 20 }, (_, at) => ({
      x: 200 + at,
      y: 150 - at,
      width: 60,
      height: 20,
    }));
    const moved = spreadBoxes(boxes, area);
    for (const [at, a] of moved.entries()) {
      expect(moved.slice(at + 1).filter((b) => overlap(a, b))).toEqual([]);
      expect(a.x - 30 >= 0 && a.x + 30 <= 400 && a.y - 10 >= 0 && a.y + 10 <= 300).toBe(true);
    }
  });

  test('that do not are left where they are', () => {
    const boxes = [40, 140, 240].map((x) => ({ x, y: 50, width: 60, height: 20 }));
    expect(spreadBoxes(boxes, area)).toEqual(boxes);
  });
});

describe('the picture of a network', () => {
  const layout = Float64Array.from([0, 0, 1, 1, 0.5, 0.5]);
  const symbols = [
    { name: 'war & peace', usage: 0.5, value: 1800 },
    { name: 'tax', usage: 0.2, value: 2000 },
    { name: 'idle', usage: 0 },
  ];
  const drawn = { title: 'Speeches', subtitle: 'three', symbols, layout, links: [[0, 1, 1]] as const };

  test('has names, links, colours by value and a scale', () => {
    const svg = networkFigure({ ...drawn, legend: 'years' });
    for (const part of ['Speeches', 'three', 'war &amp; peace', 'tax', 'idle', 'years', '>1800<', '>2000<'])
      expect(svg).toContain(part);
    const fills = [...svg.matchAll(/<circle[^>]*fill="([^"]+)"/g)].map(([, fill]) => fill);
    expect(fills).toEqual(['rgb(68,57,131)', 'rgb(196,48,43)', '#9aa5b1']);
    expect(svg.match(/<path/g)).toHaveLength(1);
  });

  test('of symbols without values has no scale', () => {
    const plain = symbols.map(({ name, usage }) => ({ name, usage }));
    const svg = networkFigure({ ...drawn, symbols: plain });
    expect(svg).not.toContain('1800');
    expect(new Set([...svg.matchAll(/<circle[^>]*fill="([^"]+)"/g)].map(([, fill]) => fill)).size).toBe(1);
  });
});
