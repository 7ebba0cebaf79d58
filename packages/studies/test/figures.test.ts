import { Random } from '@hidden-schema/base';
import { type Adjacency, edgeList, emptyGraph, randomGraph } from '@hidden-schema/hsn';
import { Resvg } from '@resvg/resvg-js';
import { describe, expect, test } from 'vitest';
import { type Curve, drawCurves } from '../src/drawing/curves.ts';
import { layoutGraph } from '../src/drawing/force-layout.ts';
import { compareGraphs, drawGraphs } from '../src/drawing/graph-figure.ts';
import { toPng } from '../src/drawing/png.ts';
import { FONT } from '../src/drawing/svg.ts';

const truth = randomGraph('blocks', 60, { blocks: 3, inside: 0.4, outside: 0.01 }, new Random(1)).adjacency;
const positions = layoutGraph(60, edgeList(truth));
const hostile = '</title><script>alert("1")</script> & \u0000\u001b[31m \ud800 𝔤 ]]>';

/** The truth with its first edge taken away and one that it lacks. */
function changed(graph: Adjacency): Adjacency {
  const data = graph.data.slice();
  const [a, b] = edgeList(graph)[0]!;
  data[a * graph.nodes + b] = data[b * graph.nodes + a] = 0;
  const free = Array.from({ length: graph.nodes }, (_, j) => j).find((j) => j > 0 && graph.data[j] === 0)!;
  data[free] = data[free * graph.nodes] = 1;
  return { nodes: graph.nodes, data };
}

describe('layoutGraph', () => {
  test('the same seed gives the same places, another does not', () => {
    expect(layoutGraph(60, edgeList(truth))).toEqual(positions);
  });

  test('fills the unit square in one direction at least', () => {
    expect(Math.min(...positions)).toBeGreaterThanOrEqual(-1e-12);
    expect(Math.max(...positions)).toBeLessThanOrEqual(1 + 1e-12);
    const spread = [0, 1].map((axis) => {
      const values = positions.filter((_, at) => at % 2 === axis);
      return Math.max(...values) - Math.min(...values);
    });
    expect(Math.max(...spread)).toBeCloseTo(1, 9);
  });

  test('linked nodes lie nearer than others', () => {
    const distance = (i: number, j: number) =>
      Math.hypot(positions[2 * i]! - positions[2 * j]!, positions[2 * i + 1]! - positions[2 * j + 1]!);
    const mean = (pairs: [number, number][]) =>
      pairs.reduce((sum, [i, j]) => sum + distance(i, j), 0) / pairs.length;
    const all = Array.from({ length: 60 * 60 }, (_, at): [number, number] => [Math.floor(at / 60), at % 60]);
    expect(mean(edgeList(truth))).toBeLessThan(0.6 * mean(all.filter(([i, j]) => i < j)));
  });

  test('no node, one node, no edge, loops, repeated edges', () => {
    expect(layoutGraph(0, []).length).toBe(0);
    expect([...layoutGraph(1, [[0, 0]])]).toEqual([0.5, 0.5]);
    expect(layoutGraph(5, []).every(Number.isFinite)).toBe(true);
    const repeated = layoutGraph(3, [
      [0, 1],
      [1, 0, 2],
      [2, 2],
    ]);
    expect(repeated.every(Number.isFinite)).toBe(true);
  });
});

describe('drawGraphs', () => {
  const recovered = changed(truth);
  const edges = compareGraphs(truth, recovered);
  const svg = drawGraphs({
    title: hostile,
    panels: [
      { title: 'True', edges: truth, positions },
      { title: hostile, edges, positions },
    ],
  });

  test('edges are compared with the truth', () => {
    const count = edgeList(truth).length;
    const by = (status: string) => edges.filter((edge) => edge.status === status);
    expect([by('correct').length, by('extra').length, by('missing').length]).toEqual([count - 1, 1, 1]);
    const [a, b] = edgeList(truth)[0]!;
    expect(by('missing')).toEqual([{ i: a, j: b, status: 'missing' }]);
    expect(svg).toContain(`60 nodes · ${count} edges`);
    expect(svg).toContain(`${count} edges: ${count - 1} correct · 1 extra · 1 missing`);
  });

  test('every edge and node is drawn, at the same places in both panels', () => {
    const circles = [...svg.matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)"/g)].map(([, x, y]) => `${x} ${y}`);
    expect(circles.slice(0, 60)).toEqual(circles.slice(60));
    const strokes = [...svg.matchAll(/<path d="([^"]+)" fill="none" stroke="(#\w+)"/g)];
    const lines = strokes.map(([, d, colour]) => `${colour} ${d!.split('M').length - 1}`);
    const count = edgeList(truth).length;
    expect(lines).toEqual([`#4a7ab5 ${count}`, `#4a7ab5 ${count - 1}`, '#e07b00 1', '#d22f3d 1']);
    expect(svg.match(/stroke-dasharray/g)?.length).toBe(2);
  });

  test('titles cannot add to the picture, and it stays valid XML', () => {
    expect(svg).not.toContain('<script');
    expect(svg).not.toMatch(/[^\P{C}\n]/u);
    expect(toPng(svg, { scale: 0.5 }).subarray(1, 4).toString()).toBe('PNG');
  });

  test('red and orange show in the picture', () => {
    const pixels = new Resvg(svg).render().pixels;
    const near = ([r, g, b]: readonly number[]) => {
      let found = 0;
      for (let at = 0; at < pixels.length; at += 4)
        if (Math.abs(pixels[at]! - r!) + Math.abs(pixels[at + 1]! - g!) + Math.abs(pixels[at + 2]! - b!) < 40)
          found++;
      return found;
    };
    expect(near([0xd2, 0x2f, 0x3d])).toBeGreaterThan(50);
    expect(near([0xe0, 0x7b, 0x00])).toBeGreaterThan(20);
  });

  test('loops, sizes and an empty graph', () => {
    const loop = drawGraphs({
      title: 'a',
      panels: [
        {
          title: 'b',
          edges: [
            { i: 0, j: 0 },
            { i: 0, j: 1 },
            { i: 1, j: 0 },
            { i: 1, j: 2 },
            { i: 1, j: 2 },
            { i: 1, j: 2 },
          ],
          positions: Float64Array.from([0, 0, 1, 1, 0, 1]),
        },
        { title: 'c', edges: emptyGraph(0), positions: new Float64Array(0) },
      ],
    });
    expect(loop).not.toContain('NaN');
    expect(loop).toContain('a5 5 0 1 1');
    expect(loop).toContain('0 nodes · 0 edges');
    const [small, large] = [...loop.matchAll(/ r="([\d.]+)"/g)].map(([, r]) => Number(r));
    expect(large).toBeGreaterThan(small!);
    expect(new Set([...loop.matchAll(/stroke-opacity="([\d.]+)"/g)].map(([, o]) => o)).size).toBe(1);
    expect(() =>
      drawGraphs({ title: '', panels: [{ title: 'x', edges: [{ i: 0, j: 9 }], positions }] }),
    ).not.toThrow();
    expect(() =>
      drawGraphs({ title: '', panels: [{ title: 'x', edges: [{ i: 0, j: 99 }], positions }] }),
    ).toThrow('names node 99, positions are given for 60 nodes');
  });
});

describe('PNG', () => {
  test('text appears on a system without any font', () => {
    const probe = (content: string) =>
      toPng(
        `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><text x="2" y="15" font-size="14" font-family="${FONT}">${content}</text></svg>`,
        { systemFonts: false },
      );
    expect(probe('hsn').equals(probe(''))).toBe(false);
  });

  test('scales', () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"/>';
    const size = (png: Buffer) => [png.readUInt32BE(16), png.readUInt32BE(20)];
    expect([size(toPng(svg)), size(toPng(svg, { scale: 1 }))]).toEqual([
      [60, 40],
      [30, 20],
    ]);
  });
});

describe('drawCurves', () => {
  const series: Curve[] = [
    {
      name: 'HSN',
      points: [
        [100, 0.6],
        [1000, 0.9],
        [10_000, 1],
      ],
      band: [
        [100, 0.5, 0.7],
        [1000, 0.85, 0.95],
        [10_000, 1, 1],
      ],
    },
    {
      name: 'counting',
      points: [
        [100, 0.55],
        [1000, 0.7],
        [10_000, 0.95],
      ],
      dashed: true,
    },
  ];
  const figure = { title: 'Recovery against data', xLabel: 'sentences', yLabel: 'AUC', logX: true, series };

  test('labels, legend, decades, a band and dashes', () => {
    const svg = drawCurves(figure);
    for (const text of [
      'Recovery against data',
      'sentences',
      'AUC',
      'HSN',
      'counting',
      '>1,000<',
      '>10,000<',
    ])
      expect(svg).toContain(text);
    expect(svg).toContain('fill-opacity="0.16"');
    expect(svg).toContain('stroke-dasharray');
    expect(svg).not.toContain('NaN');
    expect(toPng(svg, { scale: 0.5 }).length).toBeGreaterThan(1000);
  });

  test('the band is where its bounds say', () => {
    const svg = drawCurves({ ...figure, logX: false, yRange: [0, 1], width: 400, height: 400 });
    const band = /<polygon points="([^"]+)"[^>]*fill-opacity="0.16"/.exec(svg)![1]!;
    const ys = [...band.matchAll(/([\d.]+) ([\d.]+)/g)].map(([, , y]) => Number(y));
    // The plot reaches from 88 (1) to 336 (0).
    const y = (value: number) => 336 - 248 * value;
    expect(
      ys.slice(0, 6).map((value, at) => Math.abs(value - y([0.5, 0.85, 1, 1, 0.95, 0.7][at]!)) < 1),
    ).toEqual(Array(6).fill(true));
  });

  test('drawing again gives the same, and hostile names stay text', () => {
    expect(drawCurves(figure)).toBe(drawCurves(figure));
    expect(drawCurves(figure)).not.toContain('<style');
    const svg = drawCurves({ ...figure, title: hostile, series: [{ name: hostile, points: [[1, 1]] }] });
    expect(svg).not.toContain('<script');
    toPng(svg, { scale: 0.5 });
  });

  test('no curve, no point', () => {
    expect(drawCurves({ ...figure, series: [] })).toContain('</svg>');
    expect(drawCurves({ ...figure, series: [{ name: 'none', points: [] }] })).not.toContain('NaN');
  });
});
