import { type Adjacency, edgeCount, neighbourLists } from '@hidden-schema/hsn/tasks/synthetic/corpus/graphs';

/** Statistics of one undirected graph; loops count as edges and in nothing else. */
export interface GraphStatistics {
  nodes: number;
  /** Loops included, each once. */
  edges: number;
  selfLoops: number;
  /** Number of connected components. */
  components: number;
  /** Sizes, largest first. */
  componentSizes: number[];
  /** Nodes of the largest component; of equal ones, that with the smallest node. */
  largestComponent: number[];
  /** Longest shortest path within the largest component. */
  diameter: number;
  /** Mean shortest path over ordered pairs of the largest component; 0 for a single node. */
  averageDistance: number;
  /** The same two over all ordered pairs that can reach each other, in any component. */
  diameterReachable: number;
  /** null when no pair can. */
  averageDistanceReachable: number | null;
  /** Mean local clustering; a node of degree below 2 counts as 0. */
  clustering: number;
  /** Three times triangles over connected triples. */
  transitivity: number;
  /** Neighbours other than the node itself. */
  degree: Int32Array;
}

type Lists = ReturnType<typeof neighbourLists>;

/**
 * Degrees, paths and clusters of a graph. graphology-metrics has neither clustering nor mean distances, and its diameter
 * searches from every node once more.
 */
export function graphStatistics(graph: Adjacency): GraphStatistics {
  const simple: Adjacency = { nodes: graph.nodes, data: graph.data.slice() };
  for (let i = 0; i < graph.nodes; i++) simple.data[i * graph.nodes + i] = 0;
  const lists = neighbourLists(simple);
  const edges = edgeCount(graph);
  const paths = shortestPaths(graph.nodes, lists);
  return {
    nodes: graph.nodes,
    edges,
    selfLoops: edges - edgeCount(simple),
    ...paths,
    ...clustering(graph.nodes, lists),
    degree: Int32Array.from({ length: graph.nodes }, (_, i) => lists.offsets[i + 1]! - lists.offsets[i]!),
  };
}

function shortestPaths(nodes: number, lists: Lists) {
  const component = new Int32Array(nodes).fill(-1);
  const members: number[][] = [];
  const found: { longest: number; sum: number; pairs: number }[] = [];
  const search = breadthFirst(nodes, lists);
  for (let start = 0; start < nodes; start++) {
    const reached = search.from(start);
    if (component[start] === -1) {
      for (const node of reached) component[node] = members.length;
      members.push(Array.from(reached).sort((a, b) => a - b));
      found.push({ longest: 0, sum: 0, pairs: 0 });
    }
    const paths = found[component[start]!]!;
    paths.longest = Math.max(paths.longest, search.distance[reached[reached.length - 1]!]!);
    paths.pairs += reached.length - 1;
    for (const node of reached) paths.sum += search.distance[node]!;
  }
  // Components are found in the order of their smallest node, so a strict comparison settles ties.
  const largest = members.reduce(
    (best, list, at) => (list.length > (members[best]?.length ?? 0) ? at : best),
    0,
  );
  const { longest = 0, sum = 0, pairs = 0 } = found[largest] ?? {};
  const allPairs = found.reduce((count, paths) => count + paths.pairs, 0);
  return {
    components: members.length,
    componentSizes: members.map((list) => list.length).sort((a, b) => b - a),
    largestComponent: members[largest] ?? [],
    diameter: longest,
    averageDistance: pairs === 0 ? 0 : sum / pairs,
    diameterReachable: found.reduce((most, paths) => Math.max(most, paths.longest), 0),
    averageDistanceReachable:
      allPairs === 0 ? null : found.reduce((all, paths) => all + paths.sum, 0) / allPairs,
  };
}

/** Breadth-first search that reuses its arrays: nodes reached, nearest first, and their distances, until the next search. */
function breadthFirst(nodes: number, { offsets, targets }: Lists) {
  const queue = new Int32Array(nodes);
  const distance = new Int32Array(nodes);
  const from = (start: number): Int32Array => {
    distance.fill(-1);
    distance[start] = 0;
    queue[0] = start;
    let size = 1;
    for (let at = 0; at < size; at++) {
      const node = queue[at]!;
      for (const next of targets.subarray(offsets[node]!, offsets[node + 1]!)) {
        if (distance[next] !== -1) continue;
        distance[next] = distance[node]! + 1;
        queue[size++] = next;
      }
    }
    return queue.subarray(0, size);
  };
  return { from, distance };
}

function clustering(
  nodes: number,
  { offsets, targets }: Lists,
): { clustering: number; transitivity: number } {
  const isNeighbour = new Uint8Array(nodes);
  let local = 0;
  let closed = 0;
  let triples = 0;
  for (let node = 0; node < nodes; node++) {
    const around = targets.subarray(offsets[node]!, offsets[node + 1]!);
    for (const other of around) isNeighbour[other] = 1;
    // Ordered pairs of neighbours that are linked themselves: twice the triangles at this node.
    let linked = 0;
    for (const other of around)
      for (const third of targets.subarray(offsets[other]!, offsets[other + 1]!))
        linked += isNeighbour[third]!;
    for (const other of around) isNeighbour[other] = 0;
    const pairs = around.length * (around.length - 1);
    if (pairs > 0) local += linked / pairs;
    closed += linked;
    triples += pairs;
  }
  return { clustering: nodes === 0 ? 0 : local / nodes, transitivity: triples === 0 ? 0 : closed / triples };
}
