import { type Random, UserError } from '@hidden-schema/base';
import { type Fault, faultMessage } from './faults.ts';

/** An undirected graph: symmetric, row-major, 0 or 1; loops on the diagonal. */
export interface Adjacency {
  nodes: number;
  data: Uint8Array;
}

export const GRAPH_KINDS = ['barabasi', 'erdos', 'watts', 'blocks'] as const;
export type GraphKind = (typeof GRAPH_KINDS)[number];

/** Parameters of all graph models; the defaults for barabasi and erdos are the paper's (appendix E). */
export const GRAPH_DEFAULTS = {
  attach: 3,
  probability: 0.5,
  neighbours: 6,
  rewire: 0.1,
  blocks: 4,
  inside: 0.3,
  outside: 0.01,
};
export type GraphParameter = keyof typeof GRAPH_DEFAULTS;
export type GraphOptions = Partial<Record<GraphParameter, number>>;

/** Which parameters each model reads. */
const GRAPH_PARAMETERS: Record<GraphKind, readonly GraphParameter[]> = {
  barabasi: ['attach'],
  erdos: ['probability'],
  watts: ['neighbours', 'rewire'],
  blocks: ['blocks', 'inside', 'outside'],
};

/** A random graph model: enough to draw further graphs like it. */
export interface GraphModel {
  kind: GraphKind;
  options: GraphOptions;
}

export interface RandomGraph {
  adjacency: Adjacency;
  model: GraphModel;
  /** Nodes that came out isolated and were linked to a random node, since no walk could leave them. */
  reconnected: number[];
}

export const isGraphKind = (kind: string): kind is GraphKind =>
  (GRAPH_KINDS as readonly string[]).includes(kind);

/** The model with every parameter it reads filled in. */
export function graphModel(kind: GraphKind, options: GraphOptions = {}): GraphModel {
  const names = GRAPH_PARAMETERS[kind];
  return {
    kind,
    options: Object.fromEntries(names.map((name) => [name, options[name] ?? GRAPH_DEFAULTS[name]])),
  };
}

/** What each parameter must be, for a graph of that many nodes. */
function expectation(name: GraphParameter, value: number, nodes: number): string | undefined {
  const whole = (low: number, high: number) =>
    Number.isInteger(value) && value >= low && value <= high
      ? undefined
      : `a whole number from ${low} to ${high} for ${nodes} nodes`;
  switch (name) {
    case 'attach':
      return whole(1, nodes - 1);
    case 'neighbours':
      return value % 2 === 0 ? whole(2, nodes - 1) : 'an even number';
    case 'blocks':
      return whole(1, nodes);
    default:
      return value >= 0 && value <= 1 ? undefined : 'a number from 0 to 1';
  }
}

/** Every fault of a graph's settings; empty when it can be drawn. */
export function graphFaults(kind: string, nodes: number, options: GraphOptions = {}): Fault[] {
  const faults: Fault[] = [];
  const nodesAreWhole = Number.isInteger(nodes) && nodes >= 2 && nodes <= 20_000;
  if (!nodesAreWhole)
    faults.push({ setting: 'nodes', text: `expected a whole number from 2 to 20000, got ${nodes}` });
  if (!isGraphKind(kind)) {
    faults.push({
      setting: 'graph',
      text: `expected one of ${GRAPH_KINDS.join(', ')}, got ${JSON.stringify(kind)}`,
    });
    return faults;
  }
  const used = GRAPH_PARAMETERS[kind];
  for (const name of Object.keys(options) as GraphParameter[]) {
    if (options[name] === undefined || used.includes(name)) continue;
    const owner = GRAPH_KINDS.find((other) => GRAPH_PARAMETERS[other].includes(name));
    faults.push({
      setting: name,
      text: `belongs to the ${owner} graph, but the graph is ${kind}; leave it out`,
    });
  }
  if (!nodesAreWhole) return faults;
  for (const [name, value] of Object.entries(graphModel(kind, options).options) as [
    GraphParameter,
    number,
  ][]) {
    const expected = expectation(name, value, nodes);
    if (expected) faults.push({ setting: name, text: `expected ${expected}, got ${value}` });
  }
  return faults;
}

/** A graph drawn from the model; the same random state gives the same graph. */
export function randomGraph(
  kind: GraphKind,
  nodes: number,
  options: GraphOptions,
  random: Random,
): RandomGraph {
  const faults = graphFaults(kind, nodes, options);
  if (faults.length > 0) throw new UserError(faultMessage(faults));
  const model = graphModel(kind, options);
  const adjacency = DRAW[kind](nodes, model.options as Required<GraphOptions>, random);
  return { adjacency, model, reconnected: reconnectIsolated(adjacency, random) };
}

export const emptyGraph = (nodes: number): Adjacency => ({ nodes, data: new Uint8Array(nodes * nodes) });

export const hasEdge = ({ nodes, data }: Adjacency, i: number, j: number): boolean =>
  data[i * nodes + j] === 1;

function setEdge({ nodes, data }: Adjacency, i: number, j: number, value: 0 | 1): void {
  data[i * nodes + j] = value;
  data[j * nodes + i] = value;
}

/** Edges (i, j), i <= j, row by row; a loop is [i, i]. */
export function edgeList(graph: Adjacency): [number, number][] {
  const list: [number, number][] = [];
  for (let i = 0; i < graph.nodes; i++)
    for (let j = i; j < graph.nodes; j++) if (hasEdge(graph, i, j)) list.push([i, j]);

  return list;
}

export function edgeCount(graph: Adjacency): number {
  let count = 0;
  for (let i = 0; i < graph.nodes; i++)
    for (let j = i; j < graph.nodes; j++) count += graph.data[i * graph.nodes + j]!;

  return count;
}

/** Row sums of A: a loop counts once. */
export function degrees(graph: Adjacency): Int32Array {
  const result = new Int32Array(graph.nodes);
  for (let i = 0; i < graph.nodes; i++)
    for (let j = 0; j < graph.nodes; j++) result[i]! += graph.data[i * graph.nodes + j]!;

  return result;
}

/** Neighbours of node i are targets[offsets[i]] … targets[offsets[i + 1] - 1]. */
export function neighbourLists(graph: Adjacency): { offsets: Int32Array; targets: Int32Array } {
  const offsets = new Int32Array(graph.nodes + 1);
  degrees(graph).forEach((degree, i) => {
    offsets[i + 1] = offsets[i]! + degree;
  });
  const targets = new Int32Array(offsets[graph.nodes]!);
  let at = 0;
  for (let i = 0; i < graph.nodes; i++)
    for (let j = 0; j < graph.nodes; j++) if (hasEdge(graph, i, j)) targets[at++] = j;

  return { offsets, targets };
}

/** Uniform random walks: Eq. 4 with f = 1, from a uniform start. */
export class UniformWalk {
  readonly #random: Random;
  readonly #nodes: number;
  readonly #neighbours: ReturnType<typeof neighbourLists>;

  constructor(adjacency: Adjacency, random: Random) {
    this.#random = random;
    this.#nodes = adjacency.nodes;
    this.#neighbours = neighbourLists(adjacency);
  }

  start(): number {
    return this.#random.int(this.#nodes);
  }

  after(node: number): number {
    const { offsets, targets } = this.#neighbours;
    const [first, end] = [offsets[node]!, offsets[node + 1]!];
    return targets[first + this.#random.int(end - first)]!;
  }
}

function reconnectIsolated(graph: Adjacency, random: Random): number[] {
  const isolated: number[] = [];
  degrees(graph).forEach((degree, i) => {
    if (degree === 0) isolated.push(i);
  });
  for (const node of isolated) {
    const other = random.int(graph.nodes - 1);
    setEdge(graph, node, other < node ? other : other + 1, 1);
  }
  return isolated;
}

type Draw = (nodes: number, options: Required<GraphOptions>, random: Random) => Adjacency;

/** Each pair linked with the probability that `chance` gives it. */
function bernoulliPairs(nodes: number, random: Random, chance: (i: number, j: number) => number): Adjacency {
  const graph = emptyGraph(nodes);
  for (let i = 0; i < nodes; i++)
    for (let j = i + 1; j < nodes; j++) if (random.next() < chance(i, j)) setEdge(graph, i, j, 1);

  return graph;
}

const DRAW: Record<GraphKind, Draw> = {
  /** A star of `attach` edges grows by nodes that link to `attach` others in proportion to degree. */
  barabasi(nodes, { attach }, random) {
    const graph = emptyGraph(nodes);
    // Each node stands once per edge end, so a uniform choice is a choice by degree.
    const ends: number[] = [];
    const link = (i: number, j: number) => {
      setEdge(graph, i, j, 1);
      ends.push(i, j);
    };
    for (let leaf = 1; leaf <= attach; leaf++) link(0, leaf);
    for (let source = attach + 1; source < nodes; source++) {
      const targets = new Set<number>();
      while (targets.size < attach) targets.add(random.choice(ends));
      for (const target of targets) link(source, target);
    }
    return graph;
  },

  erdos: (nodes, { probability }, random) => bernoulliPairs(nodes, random, () => probability),

  /** A ring of `neighbours` nearest nodes, each edge's far end moved with probability `rewire`. */
  watts(nodes, { neighbours, rewire }, random) {
    const graph = emptyGraph(nodes);
    const half = neighbours / 2;
    for (let u = 0; u < nodes; u++)
      for (let step = 1; step <= half; step++) setEdge(graph, u, (u + step) % nodes, 1);

    const degree = degrees(graph);
    for (let step = 1; step <= half; step++)
      for (let u = 0; u < nodes; u++) {
        if (random.next() >= rewire || degree[u]! >= nodes - 1) continue;
        let target = random.int(nodes);
        while (target === u || hasEdge(graph, u, target)) target = random.int(nodes);
        const old = (u + step) % nodes;
        setEdge(graph, u, old, 0);
        setEdge(graph, u, target, 1);
        degree[old]!--;
        degree[target]!++;
      }

    return graph;
  },

  /** Communities of (nearly) equal size: dense within, sparse between. */
  blocks(nodes, { blocks, inside, outside }, random) {
    const block = (i: number) => Math.floor((i * blocks) / nodes);
    return bernoulliPairs(nodes, random, (i, j) => (block(i) === block(j) ? inside : outside));
  },
};
