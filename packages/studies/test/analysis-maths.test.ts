import fs from 'node:fs';
import { type Adjacency, emptyGraph } from '@hidden-schema/hsn';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { interpolationSheet } from '../src/analyses/sheets.ts';
import { labelFigure } from '../src/drawing/label-figure.ts';
import { sheetCsv, sheetText } from '../src/drawing/sheets.ts';
import { jensenShannon, klDivergence, smoothedShares } from '../src/measures/divergence.ts';
import { nearestWalks } from '../src/measures/highest.ts';
import { labelMaps } from '../src/measures/label-maps.ts';
import { interpolate, interpolateNodes, isWalk, shortestPath, widestPath } from '../src/measures/paths.ts';

const read = (name: string) =>
  JSON.parse(fs.readFileSync(new URL(`../../../fixtures/${name}`, import.meta.url), 'utf8'));

function graphOf(symbols: number, edges: readonly (readonly number[])[]): Adjacency {
  const graph = emptyGraph(symbols);
  for (const [i, j] of edges as [number, number][]) {
    graph.data[i * symbols + j] = 1;
    graph.data[j * symbols + i] = 1;
  }
  return graph;
}

describe('interpolation', () => {
  const fixture = read('metrics/interpolation.json') as {
    n: number;
    edges: number[][];
    cases: { start: number[]; end: number[]; distance: number | null; windows: number[][][] | null }[];
  };
  const graph = graphOf(fixture.n, fixture.edges);

  test.each(fixture.cases)('the window from $start to $end', ({ start, end, distance, windows }) => {
    const found = interpolate(graph, start, end);
    if (windows === null) return expect(found).toBeUndefined();
    expect(found!.path).toHaveLength(distance! + 1);
    expect(windows).toContainEqual(found!.windows);
  });

  test("both variants of the authors' example", () => {
    const { interpolation } = read('authors-golden.json');
    const path = graphOf(5, [
      [0, 1],
      [1, 2],
      [2, 3],
      [3, 4],
    ]);
    const { walk1, walk2, code_interpolated, code_shortest_paths, paper_windows } = interpolation;
    expect(interpolate(path, walk1, walk2)!.windows).toEqual(paper_windows);
    const nodes = interpolateNodes(path, walk1, walk2, { steps: 5 })!;
    expect(nodes.paths).toEqual(code_shortest_paths);
    for (const [step, part] of [0, 0.2, 0.4, 0.6, 0.8].entries())
      expect(nodes.windows[step]).toEqual(code_interpolated[part === 0 ? '0.0' : String(part)]);
    expect(nodes.windows[5]).toEqual(walk2);
    expect(isWalk(path, nodes.windows[1]!)).toBe(false);
  });

  test('of equally short paths the more probable one is taken', () => {
    const square = graphOf(4, [
      [0, 1],
      [1, 3],
      [0, 2],
      [2, 3],
    ]);
    const weight = (i: number, j: number) => (i === 2 || j === 2 ? 0 : -1);
    expect(shortestPath(square, 0, 3, weight)).toEqual([0, 2, 3]);
    expect(shortestPath(square, 0, 3)).toEqual([0, 1, 3]);
    expect(shortestPath(square, 2, 2)).toEqual([2]);
  });

  test('the threshold that would connect two symbols', () => {
    const p = Float64Array.from([0, 0.3, 0, 0.3, 0, 0.6, 0, 0.6, 0]);
    expect(widestPath(p, 3, 0, 2)).toBeCloseTo(0.3, 12);
    expect(widestPath(Float64Array.from([0, 0, 0, 0]), 2, 0, 1)).toBe(0);
  });
});

describe('divergences', () => {
  test('known values', () => {
    expect(klDivergence([0.5, 0.5], [0.25, 0.75])).toBeCloseTo(0.5 * Math.log(2) + 0.5 * Math.log(2 / 3), 12);
    expect(klDivergence([1, 0], [0, 1])).toBe(Number.POSITIVE_INFINITY);
    expect(jensenShannon([1, 0], [0, 1])).toBe(1);
    expect(Array.from(smoothedShares([3, 0]))).toEqual([3.5 / 4, 0.5 / 4]);
  });

  test('Jensen–Shannon is symmetric and within 0 and 1', () => {
    const counts = fc.array(fc.nat(9), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(counts, counts, (a, b) => {
        const [p, q] = [smoothedShares(a), smoothedShares(b)];
        const d = jensenShannon(p, q);
        expect(d).toBeGreaterThanOrEqual(0);
        expect(d).toBeLessThanOrEqual(1);
        expect(jensenShannon(q, p)).toBeCloseTo(d, 12);
      }),
    );
  });
});

describe('label maps', () => {
  // Two sentences of label a, one of b, one without; walks of three steps over four symbols.
  const walks = [0, 1, 0, 0, 0, 1, 2, 3, 2, 3, 3, 3];
  const found = labelMaps({
    ...{ walks, length: 3, symbols: 4 },
    ...{ labelOf: [0, 0, 1, -1], labels: ['a', 'b', 'never'] },
  });

  test('shares of steps and moves, counted by hand', () => {
    expect(found.maps.map(({ label, sentences }) => [label, sentences])).toEqual([
      ['a', 2],
      ['b', 1],
    ]);
    const [a, b] = found.maps;
    // A step that stays counts for nothing.
    expect(Array.from(a!.nodes)).toEqual([3 / 5, 2 / 5, 0, 0]);
    expect(a!.edges).toEqual([{ i: 0, j: 1, share: 1 }]);
    expect(b!.edges).toEqual([{ i: 2, j: 3, share: 1 }]);
    expect(Array.from(found.all.nodes)).toEqual([3 / 9, 2 / 9, 2 / 9, 2 / 9]);
  });

  test('divergence, and what speaks for a label', () => {
    expect(found.divergence).toEqual([
      [0, 1],
      [1, 0],
    ]);
    expect(found.edgeDivergence[0]![1]).toBe(1);
    const [first] = found.maps[1]!.typical;
    expect(first).toMatchObject({ symbol: 2, share: 2 / 3 });
    expect(first!.lift).toBeCloseTo(3, 12);
    expect(first!.weight).toBeCloseTo((2 / 3) * Math.log2(3), 12);
  });

  test('are drawn with the same places for every label, and text is text', () => {
    const layout = Float64Array.from([0, 0, 1, 0, 0, 1, 1, 1]);
    const maps = found.maps.map((map) => ({ ...map, label: `<script>${map.label}` }));
    const svg = labelFigure(maps, { title: 'x & y', layout, links: [[0, 1, 0.9]], nameOf: (k) => `"${k}"` });
    expect(svg).toContain('&lt;script&gt;a');
    expect(svg).not.toContain('<script');
    const circles = [...svg.matchAll(/cx="([\d.]+)" cy="([\d.]+)"/g)].map(([, x, y]) => `${x} ${y}`);
    expect(circles).toHaveLength(8);
    expect(new Set(circles).size).toBe(4);
  });

  test('names do not lie over each other: one of two side by side stands below, a third there has none', () => {
    const side = Float64Array.from([0.5, 0.5, 0.52, 0.5, 0.51, 0.5, 0, 1]);
    const nodes = Float64Array.from([0.3, 0.3, 0.3, 0.1]);
    const map = { ...found.maps[0]!, nodes };
    const svg = labelFigure([map], { title: 't', layout: side, links: [], nameOf: (k) => `symbol ${k}` });
    const names = [...svg.matchAll(/<text [^>]*x="([\d.]+)" y="([\d.]+)"[^>]*>(symbol \d)</g)];
    expect(names.map(([, , , name]) => name).sort()).toEqual(['symbol 1', 'symbol 2', 'symbol 3']);
    const lines = names.filter(([, , , name]) => name !== 'symbol 3').map(([, , y]) => Number(y));
    expect(Math.abs(lines[0]! - lines[1]!)).toBeGreaterThan(10);
  });
});

test('walks of an interpolation are numbers, or names with arrows between', () => {
  const end = { text: null, walk: [0, 1] };
  const steps = [{ walk: [0, 1], text: 'x', onGraph: false }];
  const way = {
    variant: 'window',
    threshold: 0.5,
    first: end,
    second: end,
    path: [],
    steps,
    unreachable: null,
  } as const;
  const shown = (names: [number, string][]) =>
    interpolationSheet({ ...way, path: [], steps }, new Map(names)).rows[0]![1];
  expect(shown([])).toBe('0 1 *');
  expect(shown([[1, 'good food']])).toBe('0 → good food *');
});

describe('nearest walks', () => {
  test('by steps shared, then symbols in common, then order', () => {
    const walks = Uint16Array.from([1, 2, 3, 3, 2, 1, 9, 9, 9, 1, 2, 3, 1, 2, 9]);
    expect(nearestWalks(walks, 3, [1, 2, 3], { limit: 4, except: 0 })).toEqual([
      { index: 3, shared: 3, common: 3 },
      { index: 4, shared: 2, common: 2 },
      { index: 1, shared: 1, common: 3 },
      { index: 2, shared: 0, common: 0 },
    ]);
  });

  test('the same as sorting all of them', () => {
    const walk = fc.array(fc.nat(4), { minLength: 3, maxLength: 3 });
    fc.assert(
      fc.property(fc.array(walk, { minLength: 1, maxLength: 20 }), walk, (all, wanted) => {
        const found = nearestWalks(Uint16Array.from(all.flat()), 3, wanted, { limit: 5 });
        // A step that stays is none that walks share.
        const comes = (of: readonly number[], i: number) => i === 0 || of[i] !== of[i - 1];
        const shared = all.map(
          (other) =>
            other.filter((symbol, i) => symbol === wanted[i] && comes(other, i) && comes(wanted, i)).length,
        );
        const best = shared.toSorted((a, b) => b - a).slice(0, 5);
        expect(found.map((one) => one.shared)).toEqual(best);
        for (const one of found) expect(one.shared).toBe(shared[one.index]);
      }),
    );
  });
});

test('a sheet shows mean ± sd, and has both as numbers in its CSV', () => {
  const sheet = {
    name: 'x',
    title: 'x',
    columns: [{ title: 'of, "it"' }, { title: 'value', digits: 1 }],
    rows: [
      ['a\nb', { mean: 1.25, sd: 0.5, count: 2 }],
      ['c', 3],
    ],
  };
  expect(sheetText(sheet, 'terminal')).toContain('1.3 ± 0.5');
  expect(sheetCsv(sheet)).toBe('"of, ""it""",value,value sd\r\n"a\nb",1.25,0.5\r\nc,3,\r\n');
});
