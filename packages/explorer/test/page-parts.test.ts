import { csvText, Random } from '@hidden-schema/base';
import { drawCurves } from '@hidden-schema/studies/drawing';
import { describe, expect, test } from 'vitest';
import { findSymbols } from '../src/page/find-symbols.ts';
import { mapsOf, symbolLabels } from '../src/page/graph/label-maps.ts';
import { Looks } from '../src/page/graph/looks.ts';
import { placesOf } from '../src/page/graph/places.ts';
import {
  countLinks,
  drawnLinks,
  pairKey,
  type Scene,
  statusOf,
  steppedPairs,
} from '../src/page/graph/scene.ts';
import { decimal, percent } from '../src/page/labels.ts';
import { type Branch, pathTree } from '../src/page/panels/path-tree.ts';
import { readState, writeState } from '../src/page/state.ts';
import { Curves } from '../src/shared/curves.ts';

const node = (symbol: number, tokens: string[], usage: number, name: string | null = null) => ({
  ...{ symbol, name, tokens, usage, community: symbol },
});
const graph: Scene['graph'] = {
  ...{
    step: 1,
    identity: '',
    strengths: [],
    linksLeftOut: 0,
    leastProbability: 0.01,
    layout: [0, 0, 1, 0, 0, 1, 1, 1],
  },
  nodes: [
    node(0, ['tree', 'oak'], 0.4),
    node(1, ['sea'], 0.3),
    node(2, ['oakum'], 0.2),
    node(3, ['x'], 0.1, 'Oak'),
  ],
  links: [
    [0, 1, 0.9],
    [1, 2, 0.4],
    [2, 2, 0.3],
  ],
  truth: [
    [0, 1],
    [0, 3],
  ],
};
const scene: Scene = {
  ...{
    graph,
    threshold: 0.5,
    truth: false,
    selected: null,
    hovered: null,
    walk: null,
    paths: null,
    dark: false,
  },
  ...{ labels: null, map: null },
};

describe('the scene', () => {
  const links = drawnLinks(graph, true);

  test('links that are found, too many, not found', () => {
    expect(links).toEqual([
      { i: 0, j: 1, probability: 0.9, strength: 0.9, isTrue: true },
      { i: 1, j: 2, probability: 0.4, strength: 0.4, isTrue: false },
      { i: 0, j: 3, probability: 0, strength: 0, isTrue: true },
    ]);
    expect(links.map((link) => statusOf(link, scene))).toEqual(['plain', null, null]);
    const compared = { ...scene, truth: true, threshold: 0.3 };
    expect(links.map((link) => statusOf(link, compared))).toEqual(['correct', 'extra', 'missing']);
    expect(countLinks(links, compared)).toEqual({ plain: 0, correct: 1, extra: 1, missing: 1, shown: 2 });
  });

  test('drawn are the strongest few of each symbol, by what walks take, else by probability', () => {
    const pairs = (of: Scene['graph']) => drawnLinks(of, false).map(({ i, j }) => [i, j]);
    // Without walks beyond chance every probable link; a loop is none.
    expect(pairs(graph)).toEqual([
      [0, 1],
      [1, 2],
    ]);
    const strengths = Array.from(
      { length: 9 },
      (_, at): [number, number, number, number, number] => [...[0, at + 1, 20 - at, 5, 4 - at / 3]] as never,
    );
    const star = { ...graph, strengths };
    // The centre has its three; every other symbol has this link alone, and so keeps it while it is stronger than chance.
    expect(pairs(star)).toEqual(Array.from({ length: 9 }, (_, at) => [0, at + 1]));
    const few = {
      ...graph,
      strengths: [...strengths, [1, 2, 3, 2, 1.1], [3, 4, 9, 1, 0.9]] as typeof strengths,
    };
    expect(pairs(few)).toContainEqual([1, 2]);
    expect(pairs(few)).not.toContainEqual([3, 4]);
    const drawn = drawnLinks(star, false);
    expect(drawn[0]!.strength).toBe(1);
    expect(drawn.at(-1)!.strength).toBeCloseTo(Math.log(4 - 8 / 3) / Math.log(4), 9);
  });

  test('what is not near the pointer turns grey', () => {
    const looks = new Looks({ ...scene, hovered: 0 }, links);
    expect([0, 1, 2, 3].map((k) => looks.node(k).faint)).toEqual([false, false, true, true]);
    expect(new Looks(scene, links).node(0).radius).toBeGreaterThan(new Looks(scene, links).node(3).radius);
  });

  test('a walk lights up, also where there is no link', () => {
    const looks = new Looks({ ...scene, walk: [0, 1, 0, 2] }, links);
    expect(steppedPairs([[0, 1, 0, 2, 2]])).toEqual([
      { i: 0, j: 1, share: 1 },
      { i: 0, j: 2, share: 1 },
    ]);
    expect(looks.node(0).label).toBe('1,3 → tree oak');
    expect([0, 1, 2, 3].map((k) => looks.node(k).faint)).toEqual([false, false, false, true]);
    expect(looks.link({ i: 2, j: 0, probability: 0, strength: 0, isTrue: false })).toMatchObject({
      level: 4,
      width: 3,
    });
  });

  test('of several paths a link is as thick as the share that takes it; one walk goes before them', () => {
    const paths = [
      [0, 1, 2],
      [0, 1, 0],
      [0, 2, 1],
    ];
    const several = new Looks({ ...scene, paths }, links);
    const width = (looks: Looks, i: number, j: number) =>
      looks.link({ i, j, probability: 0.9, strength: 0.9, isTrue: true })!.width;
    expect(width(several, 0, 1)).toBeCloseTo(1 + (5 * 2) / 3);
    expect(width(several, 1, 2)).toBeCloseTo(1 + (5 * 2) / 3);
    expect(width(several, 0, 2)).toBeCloseTo(1 + 5 / 3);
    expect(several.node(1).label).toBe('2,3 → sea');
    expect([0, 1, 2, 3].map((k) => several.node(k).faint)).toEqual([false, false, false, true]);
    const one = new Looks({ ...scene, paths, walk: [0, 1] }, links);
    expect(width(one, 0, 1)).toBe(3);
    expect([0, 1, 2, 3].map((k) => one.node(k).faint)).toEqual([false, false, true, true]);
  });
});

test('walks as a tree: every common beginning once, and every walk at a leaf', () => {
  const random = new Random(7);
  const walks = Array.from({ length: 40 }, () => Array.from({ length: 5 }, () => random.int(3)));
  const prefixes = new Set(walks.flatMap((walk) => walk.map((_, at) => walk.slice(0, at + 1).join())));
  const seen: string[] = [];
  const leaves: number[] = [];
  const visit = (branch: Branch) => {
    const { prefix, steps, branches } = branch;
    for (let end = prefix.length - steps.length + 1; end <= prefix.length; end++) {
      const key = prefix.slice(0, end).join();
      seen.push(key);
      const going = walks.flatMap((walk, at) => (walk.slice(0, end).join() === key ? [at] : []));
      expect(branch.walks).toEqual(going);
    }
    expect(branches.length).not.toBe(1);
    if (branches.length === 0) leaves.push(...branch.walks);
    for (const one of branches) visit(one);
  };
  for (const branch of pathTree(walks)) visit(branch);
  expect(seen.toSorted()).toEqual([...prefixes].toSorted());
  expect(leaves.toSorted((a, b) => a - b)).toEqual([...walks.keys()]);
});

test('search: whole matches first, then beginnings, by number, name and token', () => {
  const found = (query: string) => findSymbols(graph.nodes, query).map(({ symbol }) => symbol);
  expect(found('oak')).toEqual([0, 3, 2]);
  expect(found(' 2 ')).toEqual([2]);
  expect(found('')).toEqual([]);
  expect(found('none')).toEqual([]);
});

test('curves: every number, sweeps by themselves', () => {
  const rows = [
    { step: 0, epoch: 0, time: 1, sweep: 1, auc: 0.5 },
    { step: 20, epoch: 0, time: 2, loss: 3, auc: 0.9 },
    { step: 40, epoch: 0, time: 3, loss: null, auc: 1 },
  ];
  const logged = new Curves();
  for (const row of rows) logged.add(row);
  expect(logged.list()).toEqual([
    { name: 'loss', axis: 'step', x: [20], y: [3] },
    { name: 'auc', axis: 'step', x: [20, 40], y: [0.9, 1] },
    { name: 'auc', axis: 'sweep', x: [1], y: [0.5] },
  ]);
});

test('CSV: quoted where needed, and never a formula', () => {
  expect(
    csvText([
      ['a', 'b,"c"'],
      [1.5, null],
      ['=HYPERLINK("x")', '-1+1'],
    ]),
  ).toBe('a,"b,""c"""\r\n1.5,\r\n"\'=HYPERLINK(""x"")",\'-1+1\r\n');
});

test('numbers for people', () => {
  expect([0, 0.0004, 0.05, 0.5, 0.9995, 1].map(percent)).toEqual([
    '0.0%',
    '<0.1%',
    '5.0%',
    '50%',
    '>99.9%',
    '100%',
  ]);
  expect([1200, 0.123456, 12345.6, 1e-9].map(decimal)).toEqual(['1,200', '0.1235', '12,346', '1.00e-9']);
});

describe('label maps', () => {
  const labels = {
    ...{ step: 1, encoded: 3, divergence: [], linkDivergence: [] },
    maps: [
      {
        label: 'a',
        sentences: 2,
        nodes: [0.5, 0.5, 0, 0],
        links: [[0, 1, 1]] as [number, number, number][],
        typical: [],
      },
      {
        label: 'b/c',
        sentences: 1,
        nodes: [0, 0.2, 0.8, 0],
        links: [[1, 2, 0.5]] as [number, number, number][],
        typical: [],
      },
    ],
  };

  test('are drawn to one scale', () => {
    const [first, second] = mapsOf(labels, ['b/c', 'a']);
    expect([first!.label, first!.most, second!.most, first!.mostLink]).toEqual(['b/c', 0.8, 0.8, 1]);
    expect(first!.links.get(pairKey(2, 1))).toBe(0.5);
    const links = drawnLinks(graph, true);
    const looks = new Looks({ ...scene, threshold: 0.3, map: first! }, links);
    expect(looks.node(2).radius).toBeGreaterThan(looks.node(1).radius);
    expect(looks.link(links[1]!)!.width).toBeGreaterThan(looks.link(links[0]!)!.width);
    expect(mapsOf(labels, ['none'])).toEqual([]);
  });

  test('say which label a symbol belongs to, and how clearly', () => {
    const found = symbolLabels(labels);
    expect(found.map(({ clear }) => Number(clear.toFixed(3)))).toEqual([1, 0.429, 1, 0]);
    expect(found[0]!.colour).toBe(found[1]!.colour);
    expect(found[0]!.colour).not.toBe(found[2]!.colour);
    const looks = new Looks({ ...scene, labels: found, walk: [1] }, []);
    // Beside a walk: a pale blue, not black.
    expect(looks.node(0).colour).toBe('rgb(186,206,237)');
  });
});

test('the address holds the state, and what does not fit is as at the start', () => {
  const state = readState('#panel=compose&walk=3-1-4&maps=a/b%252Fc&temperature=0&run=x y&layer=1');
  expect(state).toMatchObject({ panel: 'compose', walk: [3, 1, 4], maps: ['a', 'b/c'], temperature: 0 });
  expect(readState(writeState(state))).toEqual(state);
  expect(readState('#walk=1-x&threshold=7&symbol=-1&variant=odd&count=1.5&maps=%25E0')).toEqual(
    readState(''),
  );
  expect(writeState(readState(''))).toBe('');
});

test('a long curve keeps its extremes, its last point, and no more than can be seen', () => {
  const logged = new Curves();
  for (let step = 0; step < 200_000; step++)
    logged.add({ step, loss: step === 77_777 ? 500 : step === 123_456 ? -500 : Math.sin(step / 1000) });
  const { x, y } = logged.list()[0]!;
  expect(x.length).toBeLessThan(4002);
  expect(x.length).toBeGreaterThan(1000);
  expect([y[x.indexOf(77_777)], y[x.indexOf(123_456)], x.at(-1)]).toEqual([500, -500, 199_999]);
  expect(x).toEqual(x.toSorted((a, b) => a - b));
  for (const [at, step] of x.entries())
    if (![77_777, 123_456].includes(step)) expect(y[at]).toBe(Math.sin(step / 1000));
});

test('curves as SVG: text is text, and one value alone is drawn', () => {
  const inks = { ground: '#fff', ink: '#000', faint: '#888', line: '#ddd' };
  const series = [{ name: 'a', colour: '#00f', points: [[1, 2]] as const }];
  const svg = drawCurves({ title: '<b>loss</b>', xLabel: 'step', yLabel: '', series, inks });
  expect(svg).toContain('<path d="M-4 0a4');
  expect(svg).toContain('&lt;b&gt;loss&lt;/b&gt;');
  expect(svg).not.toMatch(/NaN|Infinity|<b>/);
});

test('places: an outlier does not take the room of all others, and order is kept', () => {
  const layout = Array.from({ length: 40 }, (_, k) => [k / 400, (k % 7) / 10]).flat();
  layout[0] = -3;
  layout[78] = 9;
  const places = placesOf(layout);
  const xs = places.filter((_, at) => at % 2 === 0);
  expect([Math.min(...xs), Math.max(...xs)]).toEqual([0, 1]);
  expect([xs[0], xs[39]]).toEqual([0, 1]);
  expect(xs[38]! - xs[1]!).toBeGreaterThan(0.6);
  expect(xs).toEqual(xs.toSorted((a, b) => a - b));
  expect(placesOf([0, 0, 5, 1, 10, 0])).toEqual([0, 0, 0.5, 1, 1, 0]);
  expect(placesOf([2, 2])).toEqual([0, 0]);
});
