import { type Adjacency, edgeList, hasEdge } from '@hidden-schema/hsn/tasks/synthetic/corpus/graphs';
import { cut, drawing, INKS, linePath, type Mark, mark, placed, text } from './svg.ts';

/** How an edge of a recovered graph stands to the truth. */
export type EdgeStatus = 'correct' | 'extra' | 'missing';

export interface GraphEdge {
  i: number;
  j: number;
  status?: EdgeStatus;
}

export interface GraphPanel {
  title: string;
  /** Edges, or a whole graph. */
  edges: readonly GraphEdge[] | Adjacency;
  /** x and y of each node in the unit square, from `layoutGraph`. */
  positions: Float64Array;
}

export interface GraphFigure {
  title: string;
  panels: readonly GraphPanel[];
}

const SIZE = 460;
const GAP = 28;
const MARGIN = 28;
const HEAD = 96;
const FOOT = 58;
const NODE = '#243b53';

type Style = EdgeStatus | 'plain';
/** Drawn in this order: what is wrong lies on top. */
const STYLES: Record<Style, { colour: string; dashed?: true; label: string }> = {
  plain: { colour: '#4a7ab5', label: 'edges' },
  correct: { colour: '#4a7ab5', label: 'correct' },
  missing: { colour: '#e07b00', dashed: true, label: 'missing' },
  extra: { colour: '#d22f3d', label: 'extra' },
};
const STYLE_NAMES = Object.keys(STYLES) as Style[];
const styleOf = (edge: GraphEdge): Style => edge.status ?? 'plain';

/** The edges of a recovered graph beside the truth: found, too many, not found. */
export function compareGraphs(truth: Adjacency, recovered: Adjacency): GraphEdge[] {
  const found = edgeList(recovered).map(([i, j]): GraphEdge => {
    return { i, j, status: hasEdge(truth, i, j) ? 'correct' : 'extra' };
  });
  const missing = edgeList(truth)
    .filter(([i, j]) => !hasEdge(recovered, i, j))
    .map(([i, j]): GraphEdge => ({ i, j, status: 'missing' }));
  return [...found, ...missing];
}

/** Graphs side by side as SVG, with a legend and the number of edges of each kind. */
export function drawGraphs({ title, panels }: GraphFigure): string {
  const drawn = panels.map((panel) => ({ ...panel, edges: toEdges(panel.edges) }));
  const width = 2 * MARGIN + panels.length * SIZE + Math.max(0, panels.length - 1) * GAP;
  const height = HEAD + SIZE + FOOT;
  const content = drawn.map((panel, at) => {
    const left = MARGIN + at * (SIZE + GAP);
    return placed(left, HEAD, ...drawPanel(panel));
  });
  return drawing({ width, height }, title, [
    text(MARGIN, 40, cut(title, width - 2 * MARGIN, 20), { size: 20, bold: true }),
    ...content,
    ...legend(
      drawn.flatMap(({ edges }) => edges),
      height - 24,
    ),
  ]);
}

function toEdges(edges: GraphPanel['edges']): readonly GraphEdge[] {
  return 'data' in edges ? edgeList(edges).map(([i, j]) => ({ i, j })) : edges;
}

type DrawnPanel = GraphPanel & { edges: readonly GraphEdge[] };

function drawPanel(panel: DrawnPanel): Mark[] {
  const { title, edges, positions } = panel;
  const nodes = positions.length / 2;
  const inset = 14;
  const place = (node: number): [number, number] => {
    const [x, y] = [positions[2 * node], positions[2 * node + 1]];
    if (x === undefined || y === undefined)
      throw new RangeError(
        `an edge of "${title}" names node ${node}, positions are given for ${nodes} nodes`,
      );
    return [inset + x * (SIZE - 2 * inset), inset + y * (SIZE - 2 * inset)];
  };
  const paths = edgePaths(edges, place);
  const radii = nodeRadii(panel, nodes);
  const circles = Array.from({ length: nodes }, (_, node) => {
    const [cx, cy] = place(node);
    return mark('circle', { cx, cy, r: radii[node]! });
  });
  return [
    text(0, -26, cut(title, SIZE, 15), { size: 15, bold: true }),
    text(0, -8, countText(edges, nodes), { size: 12, colour: INKS.faint }),
    mark('rect', { width: SIZE, height: SIZE, rx: 6, fill: '#f7f9fb', stroke: INKS.line }),
    ...paths,
    mark('g', { fill: NODE, stroke: INKS.ground, 'stroke-width': 0.8 }, ...circles),
  ];
}

/** Edges of one kind share a path, so that a dense graph stays small and even. */
function edgePaths(edges: readonly GraphEdge[], place: (node: number) => [number, number]): Mark[] {
  return STYLE_NAMES.flatMap((style) => {
    const own = edges.filter((edge) => styleOf(edge) === style);
    const lines = own.map(({ i, j }) => linePath(place(i), place(j)));
    return lines.length > 0 ? [strokes(style, lines, edges.length)] : [];
  });
}

function strokes(style: Style, lines: readonly string[], edges: number): Mark {
  const { colour, dashed } = STYLES[style];
  const wrong = style === 'extra' || style === 'missing';
  const width = Math.min(1.6, Math.max(0.5, 24 / Math.sqrt(edges + 1)));
  // Fainter the denser, so that single wrong edges can be seen.
  const even = Math.min(0.6, Math.max(0.3, 12 / Math.sqrt(edges + 1)));
  return mark('path', {
    ...{ d: lines.join(''), fill: 'none', stroke: colour },
    'stroke-width': wrong ? Math.max(1.7, width) : width,
    'stroke-opacity': wrong ? 0.95 : even,
    'stroke-dasharray': dashed ? '4 3' : undefined,
  });
}

/** Radii by degree. */
function nodeRadii({ edges }: DrawnPanel, nodes: number): Float64Array {
  const sizes = new Float64Array(nodes);
  for (const { i, j, status } of edges) {
    if (status === 'missing') continue;
    sizes[i]! += 1;
    sizes[j]! += 1;
  }
  const largest = sizes.reduce((a, b) => Math.max(a, b), 0) || 1;
  const base = Math.min(4, Math.max(1.5, 40 / Math.sqrt(nodes + 1)));
  return sizes.map((size) => base * (0.7 + 1.1 * Math.sqrt(size / largest)));
}

const countOf = (edges: readonly GraphEdge[], style: Style): number =>
  edges.reduce((sum, edge) => sum + (styleOf(edge) === style ? 1 : 0), 0);

function countText(edges: readonly GraphEdge[], nodes: number): string {
  const judged = edges.some(({ status }) => status !== undefined);
  if (!judged) return `${nodes} nodes · ${edges.length} edges`;
  const parts = (['correct', 'extra', 'missing'] as const).map(
    (style) => `${countOf(edges, style)} ${style}`,
  );
  return `${edges.length - countOf(edges, 'missing')} edges: ${parts.join(' · ')}`;
}

/** Kinds of edges that may appear: all three once a panel is compared with the truth. */
function legend(edges: readonly GraphEdge[], y: number): Mark[] {
  const judged = edges.some(({ status }) => status !== undefined);
  if (!judged) return [];
  return (['correct', 'extra', 'missing'] as const).flatMap((style, at) => {
    const { colour, dashed, label } = STYLES[style];
    const x = MARGIN + 150 * at;
    const dash = dashed ? '5 3' : undefined;
    return [
      mark('path', { d: `M${x} ${y - 4}h26`, stroke: colour, 'stroke-width': 2.5, 'stroke-dasharray': dash }),
      text(x + 34, y, `${label} edge`, { size: 13 }),
    ];
  });
}
