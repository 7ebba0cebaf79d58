import type { JsonValue } from '@hidden-schema/base';
import type { OpenedRun } from '@hidden-schema/hsn';
import { linkProbabilities, linkRecords } from '@hidden-schema/hsn/graph/likely';
import { graphRecord } from '@hidden-schema/hsn/tasks/synthetic/network';
import { layoutGraph } from '../drawing/force-layout.ts';
import { storeIfWritable } from '../texts/encoded-writer.ts';

const FILE = 'graph.json';
/** Links that shape the picture. */
const drawnProbability = 0.1;

/** Links between different symbols (i < j) of at least a probability, most probable first, from probabilities [K, K]. */
export function linksOf(
  probabilities: Float64Array,
  symbols: number,
  least: number,
): [i: number, j: number, probability: number][] {
  const links: [number, number, number][] = [];
  for (let i = 0; i < symbols; i++) {
    for (let j = i + 1; j < symbols; j++) {
      const p = Math.min(1, probabilities[i * symbols + j]!);
      if (p >= least) links.push([i, j, p]);
    }
  }
  return links.sort((a, b) => b[2] - a[2]);
}

/** The symbols that each symbol is linked with, most probable first. */
export function linkedSymbols(
  links: readonly (readonly [i: number, j: number, probability: number])[],
  symbols: number,
): { symbol: number; probability: number }[][] {
  const near = Array.from({ length: symbols }, (): { symbol: number; probability: number }[] => []);
  for (const [i, j, probability] of links) {
    near[i]!.push({ symbol: j, probability });
    near[j]!.push({ symbol: i, probability });
  }
  return near;
}

interface GraphFile {
  layout?: { step: number; positions: number[] };
  [key: string]: JsonValue | undefined;
}

/**
 * The one picture of a run's graph: x and y of each symbol in the unit square, by forces. Drawn once for a checkpoint
 * and stored in `graph.json`, so that every figure and page shows the same.
 */
export function runLayout(opened: OpenedRun): Float64Array {
  const { run, step, symbols, model } = opened;
  const stored = run.files.readIfWhole<GraphFile>(FILE);
  const layout = stored?.layout;
  if (layout?.step === step && isLayout(layout.positions, symbols))
    return Float64Array.from(layout.positions);
  const links = linksOf(linkProbabilities(model), symbols, drawnProbability);
  const positions = Array.from(layoutGraph(symbols, links), (x) => Math.round(x * 1e5) / 1e5);
  // Training writes graph.json when it ends.
  if (run.state !== 'running')
    storeIfWritable(run, FILE, { ...(stored ?? graphOf(opened)), layout: { step, positions } });
  return Float64Array.from(positions);
}

const isLayout = (positions: unknown, symbols: number): boolean =>
  Array.isArray(positions) && positions.length === 2 * symbols && positions.every((x) => Number.isFinite(x));

function graphOf(opened: OpenedRun): GraphFile {
  if (opened.kind === 'synthetic') return graphRecord(opened.model, opened.corpus) as GraphFile;
  const { model, symbols } = opened;
  const nodes = Array.from({ length: symbols }, (_, symbol) => ({ symbol, tokens: [] }));
  return { symbols, nodes, links: linkRecords(model, symbols) };
}
