import { Random } from '@hidden-schema/base';
import Graph from 'graphology';
import forceAtlas2 from 'graphology-layout-forceatlas2';

/** Nodes beyond this use the approximation of far forces. */
const MANY_NODES = 500;

/**
 * Positions of an undirected graph's nodes by forces: links pull, nodes push. The same graph gets the same picture.
 * Returns x and y of each node in turn, within the unit square.
 */
export function layoutGraph(
  nodes: number,
  edges: Iterable<readonly [number, number, number?]>,
): Float64Array {
  const graph = new Graph({ type: 'undirected' });
  const random = new Random(1);
  for (let node = 0; node < nodes; node++) graph.addNode(node, { x: random.next(), y: random.next() });
  for (const [i, j, weight = 1] of edges) if (i !== j) graph.mergeEdge(i, j, { weight });
  const iterations = Math.max(100, Math.min(600, Math.round(120_000 / (nodes + 1))));
  const places = forceAtlas2(graph, {
    iterations,
    getEdgeWeight: 'weight',
    settings: {
      ...forceAtlas2.inferSettings(graph),
      // Weak pull to the middle that grows with distance: parts without links stay in the picture.
      strongGravityMode: true,
      gravity: 0.05,
      scalingRatio: 10,
      barnesHutOptimize: nodes > MANY_NODES,
    },
  });
  const xy = new Float64Array(2 * nodes);
  for (let node = 0; node < nodes; node++) {
    xy[2 * node] = places[node]!.x;
    xy[2 * node + 1] = places[node]!.y;
  }
  return intoUnitSquare(xy);
}

/** Moved and scaled alike in both directions, so that shapes stay. */
function intoUnitSquare(xy: Float64Array): Float64Array {
  const low = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const high = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  xy.forEach((value, at) => {
    low[at % 2] = Math.min(low[at % 2]!, value);
    high[at % 2] = Math.max(high[at % 2]!, value);
  });
  const size = Math.max(high[0]! - low[0]!, high[1]! - low[1]!) || 1;
  return xy.map((value, at) => 0.5 + (value - (low[at % 2]! + high[at % 2]!) / 2) / size);
}
