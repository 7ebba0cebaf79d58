import { Random } from '@hidden-schema/base';
import { symbolTones } from '@hidden-schema/studies/drawing';
import { describe, expect, test } from 'vitest';
import type { Graph, Labels } from '../src/page/client.ts';
import { selectionMap } from '../src/page/graph/label-maps.ts';
import { pairKey } from '../src/page/graph/scene.ts';
import { groupedGraph, groupedLabels, groupedTexts, groupingOf } from '../src/page/levels/grouped.ts';
import { readState, writeState } from '../src/page/state.ts';
import { moved, toMap, toScreen, WHOLE, zoomed } from '../src/page/texts/camera.ts';
import {
  bitsOf,
  countOf,
  type Filter,
  flowsOf,
  labelCounts,
  passing,
  selectedTexts,
  symbolCounts,
} from '../src/page/texts/filter.ts';
import { groupName, groupText } from '../src/page/texts/group.ts';
import { NearestDot } from '../src/page/texts/nearest-dot.ts';
import type { TextData } from '../src/page/texts/text-data.ts';

const COUNT = 400;
const LENGTH = 3;
const SYMBOLS = 7;
const random = new Random(5);
const data: TextData = {
  ...{ count: COUNT, corpus: COUNT, symbols: SYMBOLS, length: LENGTH, labels: ['a', 'b/c'] },
  places: Float32Array.from({ length: 2 * COUNT }, () => random.next()),
  walks: Uint16Array.from({ length: COUNT * LENGTH }, () => random.int(SYMBOLS)),
  labelOf: Int16Array.from({ length: COUNT }, () => random.int(3) - 1),
  times: Float64Array.from({ length: COUNT }, (_, n) => (n % 5 === 0 ? Number.NaN : 1000 * random.int(9))),
};
const all: Filter = { labels: [], symbols: [], around: [], between: [null, null], words: null };
const selected = (filter: Partial<Filter>, without?: keyof Filter) =>
  selectedTexts(passing(data, { ...all, ...filter }, without), 0, COUNT);
const where = (of: (n: number) => boolean) => Array.from({ length: COUNT }, (_, n) => n).filter(of);
const walk = (n: number) => Array.from(data.walks.subarray(n * LENGTH, (n + 1) * LENGTH));

describe('which texts are selected', () => {
  test('by each question, and by all together', () => {
    expect(selected({})).toHaveLength(COUNT);
    expect(selected({ labels: ['b/c'] })).toEqual(where((n) => data.labelOf[n] === 1));
    expect(selected({ labels: ['a', 'b/c'] })).toEqual(where((n) => data.labelOf[n]! >= 0));
    expect(selected({ labels: ['gone'] })).toEqual([]);
    expect(selected({ symbols: [2, 5] })).toEqual(where((n) => walk(n).some((k) => k === 2 || k === 5)));
    expect(selected({ between: [2000, 5000] })).toEqual(
      where((n) => data.times![n]! >= 2000 && data.times![n]! < 5000),
    );
    expect(selected({ between: [null, 1000] })).toEqual(where((n) => data.times![n] === 0));
    const words = Uint8Array.from({ length: COUNT / 8 }, () => 0b101);
    expect(selected({ words })).toEqual(where((n) => n % 8 === 0 || n % 8 === 2));
    const filter = { labels: ['a'], symbols: [1], between: [1000, null], words } as const;
    const each = [
      { labels: filter.labels },
      { symbols: filter.symbols },
      { between: filter.between },
      { words },
    ];
    const sets = each.map((one) => new Set(selected(one as Partial<Filter>)));
    expect(selected(filter)).toEqual(where((n) => sets.every((set) => set.has(n))));
    expect(selected(filter, 'labels')).toEqual(where((n) => sets.slice(1).every((set) => set.has(n))));
  });

  test('within a line: a box, and one that is not convex', () => {
    const at = (n: number) => [1000 * data.places[2 * n]!, 1000 * data.places[2 * n + 1]!] as const;
    expect(selected({ around: [100, 200, 600, 200, 600, 900, 100, 900] })).toEqual(
      where((n) => at(n)[0] > 100 && at(n)[0] < 600 && at(n)[1] > 200 && at(n)[1] < 900),
    );
    // An L: a box without its upper right quarter.
    const corner = [0, 0, 500, 0, 500, 500, 1000, 500, 1000, 1000, 0, 1000];
    expect(selected({ around: corner })).toEqual(where((n) => !(at(n)[0] > 500 && at(n)[1] < 500)));
    expect(selected({ around: [1, 2, 3, 4] })).toHaveLength(COUNT);
  });

  test('counts, bits, pages and shares on the graph', () => {
    const some = passing(data, { ...all, labels: ['a'] });
    const own = where((n) => data.labelOf[n] === 0);
    expect(countOf(some)).toBe(own.length);
    expect(Array.from(labelCounts(data, some))).toEqual([own.length, 0]);
    expect(Array.from(symbolCounts(data, some))).toEqual(
      Array.from({ length: SYMBOLS }, (_, k) => own.filter((n) => walk(n).includes(k)).length),
    );
    expect(selectedTexts(some, 3, 4)).toEqual(own.slice(3, 7));
    const bytes = Buffer.from(bitsOf(some), 'base64');
    expect(where((n) => ((bytes[n >> 3]! >> (n & 7)) & 1) === 1)).toEqual(own);
    const map = selectionMap(data, some, own.length);
    expect(map.nodes.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
    const steps = own.flatMap((n) =>
      walk(n)
        .slice(1)
        .map((k, at) => pairKey(walk(n)[at]!, k)),
    );
    const key = pairKey(1, 2);
    expect(map.links.get(key)).toBeCloseTo(steps.filter((one) => one === key).length / steps.length, 9);
  });
});

describe('the map', () => {
  const size = { width: 640, height: 400 };

  test('a place on the screen and on the map are one another’s', () => {
    const camera = { x: 0.3, y: 0.8, zoom: 3 };
    for (const place of [
      [10, 20],
      [639, 1],
      [320, 200],
    ] as const) {
      const [x, y] = toScreen(camera, size, toMap(camera, size, place));
      expect([x, y].map((value) => Math.round(1e6 * value) / 1e6)).toEqual(place);
    }
    expect(toMap(WHOLE, size, [320, 200])).toEqual([0.5, 0.5]);
  });

  test('what lies under the pointer stays there when it is zoomed, and goes along when it is moved', () => {
    const under = toMap(WHOLE, size, [200, 150]);
    const [x, y] = toScreen(zoomed(WHOLE, size, 4, [200, 150]), size, under);
    expect(x).toBeCloseTo(200, 6);
    expect(y).toBeCloseTo(150, 6);
    const near = { x: 0.5, y: 0.5, zoom: 4 };
    const before = toScreen(near, size, [0.5, 0.5]);
    const after = toScreen(moved(near, size, [30, -12]), size, [0.5, 0.5]);
    expect(after[0] - before[0]).toBeCloseTo(30, 6);
    expect(after[1] - before[1]).toBeCloseTo(-12, 6);
  });

  test('the nearest text is that of all pairs, among those that are selected', () => {
    const nearest = new NearestDot(data.places);
    const some = passing(data, { ...all, labels: ['a'] });
    for (let turn = 0; turn < 200; turn++) {
      const [x, y] = [random.next(), random.next()];
      const distance = (n: number) =>
        Math.hypot((data.places[2 * n]! - x) / 0.06, (data.places[2 * n + 1]! - y) / 0.1);
      const near = where((n) => some[n] === 1 && distance(n) <= 1).sort((a, b) => distance(a) - distance(b));
      expect(nearest.find([x, y], [0.06, 0.1], some)).toBe(near[0] ?? null);
    }
  });

  test('links in words: the share of a symbol’s texts that go to another next', () => {
    for (const symbol of [0, 3]) {
      const own = where((n) => walk(n).includes(symbol));
      const { texts, after, before } = flowsOf(data, symbol);
      expect(texts).toBe(own.length);
      for (const { symbol: other, share } of after)
        expect(share).toBeCloseTo(
          own.filter((n) =>
            walk(n).some((k, at) => k === symbol && other !== symbol && walk(n)[at + 1] === other),
          ).length / own.length,
          9,
        );
      expect(before.length).toBe(SYMBOLS - 1);
      expect(after).toEqual(after.toSorted((a, b) => b.share - a.share || a.symbol - b.symbol));
    }
  });

  test('symbols of a community have colours that differ', () => {
    const tones = symbolTones([0, 0, 0, 1, 1, 0]);
    expect(new Set(tones.map(String)).size).toBe(6);
    expect(tones.flat().every((value) => Number.isInteger(value) && value >= 0 && value <= 255)).toBe(true);
  });
});

test('an address holds which texts, which view and from where', () => {
  const asked = {
    ...{ label: ['a', 'b/c'], only: [3, 5], words: 'late & early', around: [1, 2, 3, 4, 5, 6] },
    ...{ since: -5_000_000_000_000, until: 0, point: 17, level: 12, show: 'map' as const },
    ...{ mapat: { x: 0.25, y: 0.5, near: 8 }, graphat: { x: -0.1, y: 0.5, near: 0.45 } },
  };
  const state = { ...readState(''), ...asked };
  expect(readState(writeState(state))).toEqual(state);
  const broken = readState('mapat=1_2&graphat=x&since=soon&only=1--2&around=-1&level=-3&show=none');
  expect(broken).toEqual(readState(''));
  const nodes = [0, 1, 2, 3, 4, 5].map((symbol) => ({
    symbol,
    name: `n${symbol}`,
    tokens: [],
    usage: 0,
    community: 0,
  }));
  const group = groupText(state);
  expect(groupName(group, { nodes })).toBe(
    'a, b/c, n3, n5, “late & early”, drawn on the map, from 1811, before 1970',
  );
  expect(readState(group)).toMatchObject({
    label: asked.label,
    only: asked.only,
    around: asked.around,
    mapat: null,
  });
});

describe('groups of symbols', () => {
  const level = {
    count: 2,
    groups: [
      { group: 0, symbols: [0, 2], name: 'even', words: ['x'], share: 0.6 },
      { group: 1, symbols: [1], name: 'odd', words: ['y'], share: 0.4 },
    ],
  };
  const node = (symbol: number, usage: number) => ({
    symbol,
    name: null,
    tokens: [],
    usage,
    community: symbol,
  });
  const graph: Graph = {
    ...{ step: 0, identity: '', nodes: [node(0, 0.1), node(1, 0.6), node(2, 0.3)], truth: null },
    links: [
      [0, 1, 0.9],
      [0, 2, 0.8],
      [1, 2, 0.4],
    ],
    ...{
      strengths: [
        [0, 1, 9, 3, 2],
        [1, 2, 5, 2, 1.5],
        [0, 2, 4, 2, 1.2],
      ],
      linksLeftOut: 0,
      leastProbability: 0.01,
      layout: [0, 0, 1, 0, 0, 1],
    },
  };
  const grouping = groupingOf(level, 3, '');

  test('have the use of their symbols, lie between them, and their most probable link', () => {
    const grouped = groupedGraph(graph, grouping);
    expect(
      grouped.nodes.map(({ symbol, name, usage, community }) => [symbol, name, usage, community]),
    ).toEqual([
      [0, 'even', 0.4, 2],
      [1, 'odd', 0.6, 1],
    ]);
    expect(grouped.layout.map((value) => Number(value.toFixed(6)))).toEqual([0, 0.75, 1, 0]);
    expect(grouped.links).toEqual([[0, 1, 0.9]]);
    expect(grouped.strengths).toEqual([[0, 1, 14, 2, 2]]);
  });

  test('walks and labels go over them', () => {
    const texts = { ...data, symbols: 3, walks: Uint16Array.of(0, 1, 2), count: 1 };
    expect(Array.from(groupedTexts(texts, grouping).walks)).toEqual([0, 1, 0]);
    const labels = {
      ...{ step: 0, encoded: 1, divergence: [], linkDivergence: [] },
      maps: [
        {
          label: 'a',
          sentences: 1,
          nodes: [0.2, 0.5, 0.3],
          links: [
            [0, 1, 0.5],
            [1, 2, 0.25],
            [0, 2, 0.25],
          ],
          typical: [],
        },
      ],
    } as unknown as Labels;
    const [map] = groupedLabels(labels, grouping).maps;
    expect(map!.nodes).toEqual([0.5, 0.5]);
    expect(map!.links).toEqual([[0, 1, 0.75]]);
  });
});
