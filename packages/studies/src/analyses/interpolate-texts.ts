import { formatNumber, UserError } from '@hidden-schema/base';
import { LIKELY_LINK, linkProbabilities } from '@hidden-schema/hsn/graph/likely';
import type { LanguageRun } from '@hidden-schema/hsn/open';
import type { WritingOptions } from '@hidden-schema/hsn/tasks/language/texts';
import { type Adjacency, neighbourLists } from '@hidden-schema/hsn/tasks/synthetic/corpus/graphs';
import { interpolate, interpolateNodes, isWalk, widestPath } from '../measures/paths.ts';
import { mostLikelyLinks } from '../runs/opened.ts';
import { type SymbolNames, symbolNames, symbolTitle } from '../symbols/names.ts';

/** One walk on the way, written out. */
export interface InterpolationStep {
  walk: number[];
  text: string;
  /** Whether each move follows a link of the graph. */
  onGraph: boolean;
}

/** The way from one sentence to another over the graph, each step decoded. */
export interface Interpolation {
  /** window: the paper's sliding window. nodes: the authors' program, symbol by symbol. */
  variant: 'window' | 'nodes';
  threshold: number;
  first: { text: string | null; walk: number[] };
  second: { text: string | null; walk: number[] };
  /** From the end of the first walk to the beginning of the second; null where there is none, and for `nodes`. */
  path: number[] | null;
  steps: InterpolationStep[];
  /** Why there are no steps. */
  unreachable: string | null;
}

/** Which way is taken between two walks, and how its steps are written. */
export interface InterpolationOptions {
  variant?: 'window' | 'nodes';
  /** Of the node-wise variant: parts of the way; 4 unless given. */
  steps?: number;
  /** Links of the graph are at least this probable; 0.5 unless given. */
  threshold?: number;
  write?: WritingOptions;
}

/** Interpolates between the walks read in two sentences. */
export async function interpolateTexts(
  run: LanguageRun,
  first: string,
  second: string,
  options: InterpolationOptions = {},
): Promise<Interpolation> {
  if (first.trim() === '' || second.trim() === '')
    throw new UserError('an interpolation takes two sentences, got an empty one');
  const { walks } = await run.texts.read([first.trim(), second.trim()]);
  const found = await interpolateWalks(run, walks[0]!.walk, walks[1]!.walk, options);
  return { ...found, first: { ...found.first, text: first }, second: { ...found.second, text: second } };
}

/** The same between two walks. */
export async function interpolateWalks(
  run: LanguageRun,
  first: readonly number[],
  second: readonly number[],
  options: InterpolationOptions = {},
): Promise<Interpolation> {
  const { variant = 'window', steps = 4, threshold = LIKELY_LINK } = options;
  checkOptions(run, [first, second], steps, threshold);
  const probabilities = linkProbabilities(run.model);
  const graph = mostLikelyLinks(probabilities, run.symbols, threshold);
  const weight = (i: number, j: number) => Math.log(probabilities[i * run.symbols + j]!);
  const route =
    variant === 'window'
      ? interpolate(graph, first, second, weight)
      : interpolateNodes(graph, first, second, { steps, weight });
  const decoded: InterpolationStep[] = [];
  for (const walk of route?.windows ?? []) {
    const [text] = await run.texts.write(walk, options.write);
    decoded.push({ walk, text: text!, onGraph: isWalk(graph, walk) });
  }
  return {
    variant,
    threshold,
    first: { text: null, walk: [...first] },
    second: { text: null, walk: [...second] },
    path: route && 'path' in route ? route.path : null,
    steps: decoded,
    unreachable: route ? null : explained(run, graph, probabilities, ends(variant, first, second, graph)),
  };
}

function checkOptions(
  { symbols, length }: LanguageRun,
  walks: readonly (readonly number[])[],
  steps: number,
  threshold: number,
): void {
  if (!(Number.isInteger(steps) && steps >= 1))
    throw new UserError(`the node-wise variant takes at least one step, got ${steps}`);
  if (!(threshold > 0 && threshold <= 1))
    throw new UserError(`the threshold is a probability above 0 and up to 1, got ${threshold}`);
  for (const walk of walks) {
    if (walk.length !== length)
      throw new UserError(`walks of this model have ${length} steps, got ${walk.length}`);
    if (!walk.every((symbol) => Number.isInteger(symbol) && symbol >= 0 && symbol < symbols))
      throw new UserError(`the symbols of this model are 0 to ${symbols - 1}, got ${walk.join(', ')}`);
  }
}

/** Two symbols that no path connects. */
function ends(
  variant: 'window' | 'nodes',
  first: readonly number[],
  second: readonly number[],
  graph: Adjacency,
): [number, number] {
  if (variant === 'window') return [first.at(-1)!, second[0]!];
  const at = first.findIndex((symbol, i) => !component(graph, symbol).has(second[i]!));
  return [first[at]!, second[at]!];
}

function component(graph: Adjacency, from: number): Set<number> {
  const { offsets, targets } = neighbourLists(graph);
  const reached = new Set([from]);
  for (const node of reached)
    for (const next of targets.subarray(offsets[node]!, offsets[node + 1]!)) reached.add(next);
  return reached;
}

function explained(
  run: LanguageRun,
  graph: Adjacency,
  probabilities: Float64Array,
  [from, to]: [number, number],
): string {
  const names: SymbolNames = symbolNames(run.run);
  const part = (symbol: number) => {
    const size = component(graph, symbol).size;
    const rest = size === 1 ? 'has no links' : `is in a part of ${size} symbols`;
    return `symbol ${symbolTitle(symbol, names)} ${rest}`;
  };
  const width = widestPath(probabilities, run.symbols, from, to);
  const lower = Math.floor(width * 1000) / 1000;
  const advice =
    lower > 0
      ? `a threshold of ${formatNumber(lower, 3)} would connect them`
      : 'no links, however improbable, connect them';
  return `no path leads from the first walk to the second: ${part(from)}, ${part(to)}; ${advice}`;
}
