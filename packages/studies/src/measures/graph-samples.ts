import { formatMeanSd, formatNumber, type MeanSd, meanSd, Random } from '@hidden-schema/base';
import { type Adjacency, emptyGraph } from '@hidden-schema/hsn/tasks/synthetic/corpus/graphs';
import { type GraphStatistics, graphStatistics } from './graph-statistics.ts';

/** Share of nodes with a degree: mean and standard deviation over graphs. */
export interface DegreeShare {
  degree: number;
  mean: number;
  sd: number;
}

/** Statistics of several graphs (appendix F.3); distances are those of each graph's largest component. */
export interface GraphSummary {
  samples: number;
  nodes: number;
  /** Links between two different symbols; loops are counted apart and play no part elsewhere. */
  edges: MeanSd;
  selfLoops: MeanSd;
  diameter: MeanSd;
  averageDistance: MeanSd;
  clustering: MeanSd;
  components: MeanSd;
  largestComponent: MeanSd;
  /** Mean share of pairs that are linked. */
  density: number;
  /** P(k), from k = 0 to the largest degree seen; of all symbols, and of those in the largest component (Figure 11). */
  degrees: DegreeShare[];
  largestDegrees: DegreeShare[];
}

/** One graph with each link drawn by its probability [K, K]. */
export function sampleGraph(probabilities: Float64Array, symbols: number, random: Random): Adjacency {
  const graph = emptyGraph(symbols);
  for (let i = 0; i < symbols; i++) {
    for (let j = i; j < symbols; j++) {
      if (random.next() >= probabilities[i * symbols + j]!) continue;
      graph.data[i * symbols + j] = 1;
      graph.data[j * symbols + i] = 1;
    }
  }
  return graph;
}

export function summariseGraphs(graphs: Iterable<Adjacency>): GraphSummary {
  const all: GraphStatistics[] = [];
  for (const graph of graphs) all.push(graphStatistics(graph));
  const over = (value: (one: GraphStatistics) => number) => meanSd(all.map(value));
  const nodes = all[0]?.nodes ?? 0;
  const edges = over((one) => one.edges - one.selfLoops);
  return {
    samples: all.length,
    nodes,
    edges,
    selfLoops: over((one) => one.selfLoops),
    diameter: over((one) => one.diameter),
    averageDistance: over((one) => one.averageDistance),
    clustering: over((one) => one.clustering),
    components: over((one) => one.components),
    largestComponent: over((one) => one.largestComponent.length),
    density: nodes < 2 ? 0 : edges.mean / ((nodes * (nodes - 1)) / 2),
    degrees: degreeShares(all.map(({ degree }) => degree)),
    largestDegrees: degreeShares(
      all.map(({ degree, largestComponent }) => Int32Array.from(largestComponent, (node) => degree[node]!)),
    ),
  };
}

function degreeShares(all: readonly Int32Array[]): DegreeShare[] {
  const most = all.reduce((top, degree) => degree.reduce((a, b) => Math.max(a, b), top), 0);
  const counts = all.map((degree) => {
    const share = new Float64Array(most + 1);
    for (const k of degree) share[k]! += 1 / degree.length;
    return share;
  });
  return Array.from({ length: most + 1 }, (_, degree) => {
    const { mean, sd } = meanSd(counts.map((share) => share[degree]!));
    return { degree, mean, sd: sd ?? 0 };
  });
}

/** What a graph's structure is said to be. */
export interface SmallWorld {
  smallWorld: boolean;
  /** (C / C_random) / (l / l_random) at the same density; null where it is not defined. */
  sigma: number | null;
  text: string;
}

/** An inferred graph beside Erdős–Rényi graphs of as many symbols: with p = 0.5, and as dense as itself. */
export interface GraphStudy {
  inferred: GraphSummary;
  half: GraphSummary;
  sameDensity: GraphSummary;
  verdict: SmallWorld;
}

export interface GraphStudyOptions {
  /** Graphs drawn of each kind; 500 as in the paper, fewer where symbols are many. */
  samples?: number;
  seed?: number;
  onProgress?: (done: number, total: number) => void;
}

const paperSamples = 500;
/** Shortest paths take about K³ steps a graph. */
const affordable = 1e9;

/** Statistics of graphs drawn from a run's posterior, beside random graphs of as many links. */
export function studyGraph(
  probabilities: Float64Array,
  symbols: number,
  options: GraphStudyOptions = {},
): GraphStudy {
  const samples =
    options.samples ?? Math.max(5, Math.min(paperSamples, Math.round(affordable / symbols ** 3)));
  let done = 0;
  const drawn = function* (of: Float64Array, stream: number): Generator<Adjacency> {
    const random = new Random(options.seed ?? 1, stream);
    for (let s = 0; s < samples; s++) {
      yield sampleGraph(of, symbols, random);
      options.onProgress?.(++done, 3 * samples);
    }
  };
  const inferred = summariseGraphs(drawn(probabilities, 1));
  const half = summariseGraphs(drawn(evenLinks(symbols, 0.5), 2));
  const sameDensity = summariseGraphs(drawn(evenLinks(symbols, inferred.density), 3));
  return { inferred, half, sameDensity, verdict: smallWorld(inferred, half, sameDensity) };
}

/** Erdős–Rényi: every pair alike, no loops. */
function evenLinks(symbols: number, p: number): Float64Array {
  return Float64Array.from({ length: symbols * symbols }, (_, at) => (at % (symbols + 1) === 0 ? 0 : p));
}

/** Above chance by more than draws vary, and by a tenth at least, so that large samples do not make trifles count. */
const clearlyAbove = (a: MeanSd, b: MeanSd): boolean =>
  a.mean > 1.1 * b.mean && a.mean - b.mean > 2 * Math.hypot(a.sd ?? 0, b.sd ?? 0);
/** Distances up to this much longer than in a random graph still count as short. */
const longer = 1.5;

/** Small-world in Watts and Strogatz's sense: much more clustered than a random graph as dense, and as short in paths. */
export function smallWorld(inferred: GraphSummary, half: GraphSummary, same: GraphSummary): SmallWorld {
  const [c, cr] = [inferred.clustering, same.clustering];
  const [l, lr] = [inferred.averageDistance, same.averageDistance];
  const defined = c.mean > 0 && cr.mean > 0 && l.mean > 0 && lr.mean > 0;
  const sigma = defined ? c.mean / cr.mean / (l.mean / lr.mean) : null;
  const clustered = clearlyAbove(c, cr);
  const short = l.mean > 0 && l.mean <= longer * lr.mean;
  const opening = clustered && short ? 'Small-world' : 'Not small-world';
  const times = cr.mean > 0 ? `${formatNumber(c.mean / cr.mean, 2)} times the ` : 'beside ';
  const text = [
    `${opening}: clustering ${formatNumber(c.mean, 2)} is ${times}${formatNumber(cr.mean, 2)} of a random graph of the same density`,
    clustered ? '' : ' (no clear difference)',
    `, average distance ${formatNumber(l.mean, 2)} against ${formatNumber(lr.mean, 2)}`,
    l.mean > 0 && !short ? ' (longer)' : '',
    `. ${besideHalf(inferred, half)}`,
    inferred.components.mean > 1
      ? ` Distances are those of the largest component, ${formatMeanSd(inferred.largestComponent, 1)} of ${inferred.nodes} symbols.`
      : '',
  ].join('');
  return { smallWorld: clustered && short, sigma, text };
}

/** The paper's own comparison: shorter and more clustered than the maximum-entropy graph. */
function besideHalf(inferred: GraphSummary, half: GraphSummary): string {
  const shorter = inferred.averageDistance.mean < half.averageDistance.mean;
  const denser = clearlyAbove(inferred.clustering, half.clustering);
  const met =
    shorter && denser
      ? "The paper's finding holds too"
      : `The paper's finding does not hold (${[...(denser ? [] : ['not more clustered']), ...(shorter ? [] : ['not shorter'])].join(', ')})`;
  const figures = `clustering ${formatNumber(half.clustering.mean, 2)}, distance ${formatNumber(half.averageDistance.mean, 2)}`;
  return `${met}: beside a random graph with p = 0.5, which has ${figures}.`;
}
