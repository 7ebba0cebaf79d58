import { describe, expect, test } from 'vitest';
import { csv } from '../src/page/csv.ts';
import { findSymbols } from '../src/page/find-symbols.ts';
import { countLinks, drawnLinks, Looks, type Scene, statusOf, walkPairs } from '../src/page/graph/scene.ts';
import { decimal, percent } from '../src/page/labels.ts';
import { curvesOf } from '../src/page/panels/curves.ts';

const node = (symbol: number, tokens: string[], usage: number, name: string | null = null) => ({
  ...{ symbol, name, tokens, usage, community: symbol },
});
const graph: Scene['graph'] = {
  ...{ step: 1, linksLeftOut: 0, leastProbability: 0.01, layout: [0, 0, 1, 0, 0, 1, 1, 1] },
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
  ...{ graph, threshold: 0.5, truth: false, selected: null, hovered: null, walk: null, dark: false },
};

describe('the scene', () => {
  const links = drawnLinks(graph);

  test('links that are found, too many, not found', () => {
    expect(links).toEqual([
      { i: 0, j: 1, probability: 0.9, isTrue: true },
      { i: 1, j: 2, probability: 0.4, isTrue: false },
      { i: 0, j: 3, probability: 0, isTrue: true },
    ]);
    expect(links.map((link) => statusOf(link, scene))).toEqual(['plain', null, null]);
    const compared = { ...scene, truth: true, threshold: 0.3 };
    expect(links.map((link) => statusOf(link, compared))).toEqual(['correct', 'extra', 'missing']);
    expect(countLinks(links, compared)).toEqual({ plain: 0, correct: 1, extra: 1, missing: 1, shown: 2 });
  });

  test('what is not near the pointer turns grey', () => {
    const looks = new Looks({ ...scene, hovered: 0 }, links);
    expect([0, 1, 2, 3].map((k) => looks.node(k).faint)).toEqual([false, false, true, true]);
    expect(new Looks(scene, links).node(0).radius).toBeGreaterThan(new Looks(scene, links).node(3).radius);
  });

  test('a walk lights up, also where there is no link', () => {
    const looks = new Looks({ ...scene, walk: [0, 1, 0, 2] }, links);
    expect(walkPairs([0, 1, 0, 2, 2])).toEqual([
      [0, 1],
      [0, 2],
    ]);
    expect(looks.node(0).label).toBe('1,3 → 0 tree oak');
    expect([0, 1, 2, 3].map((k) => looks.node(k).faint)).toEqual([false, false, false, true]);
    expect(looks.link({ i: 2, j: 0, probability: 0, isTrue: false })).toMatchObject({ level: 3 });
  });
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
  expect(curvesOf(rows)).toEqual([
    { name: 'loss', axis: 'step', x: [20], y: [3] },
    { name: 'auc', axis: 'step', x: [20, 40], y: [0.9, 1] },
    { name: 'auc', axis: 'sweep', x: [1], y: [0.5] },
  ]);
});

test('CSV: quoted where needed, and never a formula', () => {
  expect(
    csv([
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
