import fs from 'node:fs';
import { Random } from '@hidden-schema/base';
import { type Adjacency, emptyGraph } from '@hidden-schema/hsn';
import { describe, expect, test } from 'vitest';
import { degreeFigure } from '../src/drawing/degree-figure.ts';
import {
  type GraphSummary,
  sampleGraph,
  smallWorld,
  studyGraph,
  summariseGraphs,
} from '../src/measures/graph-samples.ts';
import { graphStatistics } from '../src/measures/graph-statistics.ts';

/** Statistics of graphs by networkx; see fixtures/metrics/README.md. */
const fixture = JSON.parse(
  fs.readFileSync(new URL('../../../fixtures/metrics/graph_samples.json', import.meta.url), 'utf8'),
) as {
  symbols: number;
  graphs: { edges: [number, number][]; statistics: Record<string, number> }[];
  mean: Record<string, number>;
  sd: Record<string, number>;
  degree_distribution: number[];
};

function graphOf(symbols: number, edges: readonly (readonly [number, number])[]): Adjacency {
  const graph = emptyGraph(symbols);
  for (const [i, j] of edges) {
    graph.data[i * symbols + j] = 1;
    graph.data[j * symbols + i] = 1;
  }
  return graph;
}

describe('statistics over graphs are those of networkx', () => {
  const graphs = fixture.graphs.map(({ edges }) => graphOf(fixture.symbols, edges));
  const summary = summariseGraphs(graphs);
  test.each([
    ['edges', 'edges'],
    ['selfLoops', 'self_loops'],
    ['diameter', 'diameter'],
    ['averageDistance', 'average_distance'],
    ['clustering', 'clustering'],
    ['components', 'components'],
    ['largestComponent', 'largest_component'],
  ] as const)('%s', (ours, theirs) => {
    expect(summary[ours].mean).toBeCloseTo(fixture.mean[theirs]!, 10);
    expect(summary[ours].sd).toBeCloseTo(fixture.sd[theirs]!, 10);
  });

  test('each graph alone, and the distribution of degrees', () => {
    for (const [at, { statistics }] of fixture.graphs.entries()) {
      const one = graphStatistics(graphs[at]!);
      expect(one.averageDistance).toBeCloseTo(statistics.average_distance!, 10);
      expect(one.clustering).toBeCloseTo(statistics.clustering!, 10);
    }
    expect(summary.degrees.map(({ mean }) => mean)).toHaveLength(fixture.degree_distribution.length);
    for (const [k, share] of fixture.degree_distribution.entries())
      expect(summary.degrees[k]!.mean).toBeCloseTo(share, 10);
  });
});

describe('sampled graphs', () => {
  test('have each link as often as its probability says, loops too, and are symmetric', () => {
    const K = 3;
    const p = Float64Array.from([0.9, 0.2, 0, 0.2, 0, 1, 0, 1, 0.5]);
    const random = new Random(4);
    const counts = new Float64Array(9);
    let symmetric = true;
    for (let s = 0; s < 1500; s++) {
      const { data } = sampleGraph(p, K, random);
      for (const [at, value] of data.entries()) counts[at]! += value / 1500;
      symmetric &&= data[1] === data[3] && data[2] === data[6] && data[5] === data[7];
    }
    expect(symmetric).toBe(true);
    for (const [at, share] of counts.entries()) expect(Math.abs(share - p[at]!)).toBeLessThan(0.05);
  });

  test('a study is the same for the same seed, and random graphs have no loops', () => {
    const p = new Float64Array(64).fill(0.4);
    const study = studyGraph(p, 8, { samples: 30, seed: 2 });
    expect(studyGraph(p, 8, { samples: 30, seed: 2 })).toEqual(study);
    expect(study.inferred.selfLoops.mean).toBeGreaterThan(2);
    expect(study.half.selfLoops.mean + study.sameDensity.selfLoops.mean).toBe(0);
    expect(study.sameDensity.density).toBeCloseTo(study.inferred.density, 1);
    expect(study.half.density).toBeCloseTo(0.5, 1);
    for (const { degrees } of [study.inferred, study.half])
      expect(degrees.reduce((sum, { mean }) => sum + mean, 0)).toBeCloseTo(1, 10);
    expect(degreeFigure(study, 'a <b> title')).toContain('a &lt;b&gt; title');
  });
});

describe('the verdict in words', () => {
  const ring = (symbols: number, rewired: number): Adjacency => {
    const random = new Random(1);
    const edges = Array.from({ length: symbols }, (_, i) =>
      [1, 2, 3].map((d) => [i, (i + d) % symbols] as const),
    );
    const moved = edges
      .flat()
      .map(([i, j]): [number, number] => (random.next() < rewired ? [i, random.int(symbols)] : [i, j]));
    return graphOf(symbols, moved);
  };
  const matrix = ({ data }: Adjacency) => Float64Array.from(data);

  test('a rewired ring is small-world, the ring itself too long, a random graph not clustered', () => {
    const samples = { samples: 10 };
    const small = studyGraph(matrix(ring(60, 0.1)), 60, samples).verdict;
    expect(small).toMatchObject({ smallWorld: true });
    expect(small.sigma).toBeGreaterThan(1.5);
    expect(small.text).toMatch(
      /^Small-world: clustering 0\.\d+ is [\d.]+ times the 0\.\d+ of a random graph/,
    );
    const long = studyGraph(matrix(ring(60, 0)), 60, samples).verdict;
    expect(long.smallWorld).toBe(false);
    expect(long.text).toMatch(/average distance [\d.]+ against [\d.]+ \(longer\)/);
    const random = studyGraph(new Float64Array(3600).fill(0.5), 60, samples).verdict;
    expect(random.text).toMatch(/^Not small-world: .*\(no clear difference\)/);
  });

  test('graphs without links, and parts of a graph, are said in words', () => {
    const none = studyGraph(new Float64Array(16), 4, { samples: 3 }).verdict;
    expect(none).toMatchObject({ smallWorld: false, sigma: null });
    expect(none.text).not.toMatch(/NaN|Infinity|undefined/);
    const apart: GraphSummary = summariseGraphs([graphOf(5, [[0, 1]])]);
    expect(smallWorld(apart, apart, apart).text).toContain('the largest component, 2.0 of 5 symbols');
  });
});
