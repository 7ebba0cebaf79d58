import { type Adjacency, hasEdge, neighbourLists } from '@hidden-schema/hsn/tasks/synthetic/corpus/graphs';

/** A walk from one schema to another. */
export interface WindowSteps {
  /** Symbols from the first walk's end to the second's beginning, both included. */
  path: number[];
  /** The schemata on the way, the two themselves first and last. */
  windows: number[][];
}

/**
 * A shortest path, its ends included; undefined where there is none. Of equally short ones that of the largest sum of
 * `weight` over its links, then of the smallest symbols.
 */
export function shortestPath(
  graph: Adjacency,
  from: number,
  to: number,
  weight: (i: number, j: number) => number = () => 0,
): number[] | undefined {
  const { offsets, targets } = neighbourLists(graph);
  const distance = new Int32Array(graph.nodes).fill(-1);
  const best = new Float64Array(graph.nodes).fill(Number.NEGATIVE_INFINITY);
  const cameFrom = new Int32Array(graph.nodes).fill(-1);
  distance[from] = 0;
  best[from] = 0;
  const queue = [from];
  for (let at = 0; at < queue.length; at++) {
    const node = queue[at]!;
    for (const next of targets.subarray(offsets[node]!, offsets[node + 1]!)) {
      if (distance[next] === -1) {
        distance[next] = distance[node]! + 1;
        queue.push(next);
      }
      // All symbols of one distance leave the queue before those of the next, so `best` is final when it is used.
      const sum = best[node]! + weight(node, next);
      if (distance[next] === distance[node]! + 1 && sum > best[next]!) {
        best[next] = sum;
        cameFrom[next] = node;
      }
    }
  }
  if (distance[to] === -1) return undefined;
  const path = [to];
  while (path[0] !== from) path.unshift(cameFrom[path[0]!]!);
  return path;
}

/**
 * The paper's schema interpolation (appendix F.3): a window of length L slides along the first walk, the shortest path
 * from its end to the beginning of the second, and the second walk. A symbol in which the two walks meet is kept once.
 */
export function interpolate(
  graph: Adjacency,
  first: readonly number[],
  second: readonly number[],
  weight?: (i: number, j: number) => number,
): WindowSteps | undefined {
  const path = shortestPath(graph, first.at(-1)!, second[0]!, weight);
  if (!path) return undefined;
  const chain = [...first, ...path.slice(1), ...second.slice(1)];
  const L = first.length;
  const windows = Array.from({ length: chain.length - L + 1 }, (_, i) => chain.slice(i, i + L));
  return { path, windows };
}

/**
 * The authors' program instead goes from each symbol of the first walk to that of the second at the same place, along
 * a shortest path of its own: at part t of the way, its element ⌊t · symbols⌋. What is between is in general no walk.
 */
export function interpolateNodes(
  graph: Adjacency,
  first: readonly number[],
  second: readonly number[],
  { steps, weight }: { steps: number; weight?: (i: number, j: number) => number },
): { paths: number[][]; windows: number[][] } | undefined {
  const paths = first.map((symbol, i) => shortestPath(graph, symbol, second[i]!, weight));
  if (!paths.every((path) => path !== undefined)) return undefined;
  const windows = Array.from({ length: steps + 1 }, (_, step) =>
    paths.map((path) => path[Math.min(path.length - 1, Math.floor((step / steps) * path.length))]!),
  );
  return { paths, windows };
}

/** Whether every step of a walk follows a link; one that stays needs a loop. */
export function isWalk(graph: Adjacency, walk: readonly number[]): boolean {
  return walk.every((symbol, i) => i === 0 || hasEdge(graph, walk[i - 1]!, symbol));
}

/**
 * The largest probability p such that links of at least p connect two symbols; 0 where none do. Links [K, K].
 */
export function widestPath(
  probabilities: ArrayLike<number>,
  symbols: number,
  from: number,
  to: number,
): number {
  const width = new Float64Array(symbols);
  const done = new Uint8Array(symbols);
  width[from] = 1;
  for (let round = 0; round < symbols; round++) {
    let node = -1;
    for (let k = 0; k < symbols; k++) if (!done[k] && (node < 0 || width[k]! > width[node]!)) node = k;
    if (node === to || width[node] === 0) return width[to]!;
    done[node] = 1;
    for (let k = 0; k < symbols; k++)
      width[k] = Math.max(width[k]!, Math.min(width[node]!, probabilities[node * symbols + k]!));
  }
  return width[to]!;
}
