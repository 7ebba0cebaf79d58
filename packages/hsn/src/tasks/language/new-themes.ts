import { cat, Generator, Tensor } from '@hidden-schema/torch';
import { sphericalMeans, unitRows } from '../../discovery/index.ts';

// Shapes: N texts, K symbols, S width.

export interface Theme {
  /** [S] */
  direction: Float32Array;
  /** Texts that are nearer to it than to any symbol: of those that were added, and of those before. */
  added: number;
  before: number;
}

/** A theme has at least so many of the added texts, and so much of all of them. */
const fewest = { texts: 5, share: 0.01 };
/** Of the added texts it has this many times the share that it has of those before. */
const lift = 5;
/** Texts are badly explained below this quantile of those before. */
const badly = 0.1;
/** It holds its texts as well as the loosest but these of the symbols hold theirs. */
const loosest = 0.1;
const mostThemes = 20;
const clusterTexts = 20;
const clustering = { rounds: 15, starts: 4, seedingPoints: 4000 };

/**
 * Themes that added texts have and those before had not: directions that many added texts are nearer to than to any symbol,
 * hardly any earlier text is, and that hold their texts together as symbols do.
 */
export function newThemes(points: { before: Tensor; added: Tensor }, symbols: Tensor, seed: number): Theme[] {
  const generator = new Generator(seed);
  const known = nearness(points.before, symbols);
  const floor = quantile(known.best, badly);
  const hold = quantile(cohesions(known, symbols.dim(0)), loosest);
  const themes: Theme[] = [];
  let all = symbols;
  while (themes.length < mostThemes) {
    const theme = nextTheme(points, { symbols: all, floor, hold }, generator);
    if (!theme) break;
    themes.push(theme.theme);
    all = cat([all, theme.direction], 0);
  }
  return themes;
}

interface Known {
  symbols: Tensor;
  /** Nearness below which a text is explained badly, and that a theme's own texts have to it in the mean. */
  floor: number;
  hold: number;
}

function nextTheme(
  { before, added }: { before: Tensor; added: Tensor },
  { symbols, floor, hold }: Known,
  generator: Generator,
): { theme: Theme; direction: Tensor } | undefined {
  const now = nearness(added, symbols);
  const strange = indicesOf(now.best, (near) => near < floor);
  const least = Math.max(fewest.texts, fewest.share * added.dim(0));
  if (strange.length < least) return undefined;
  const some = added.indexSelect(0, rows(strange));
  const count = Math.max(1, Math.min(12, Math.floor(strange.length / clusterTexts)));
  const centres = sphericalMeans(some, { ...clustering, count }, generator);
  const sizes = new Float64Array(count);
  for (const cluster of nearness(some, centres).symbol) sizes[cluster]!++;
  const order = Array.from(sizes.keys()).sort((a, b) => sizes[b]! - sizes[a]!);
  const earlier = nearness(before, symbols);
  for (const cluster of order) {
    const direction = settled(centres.narrow(0, cluster, 1), added, now.best);
    const own = preferring(direction, added, now.best);
    const old = preferring(direction, before, earlier.best);
    const held = own.near.reduce((sum, near) => sum + near, 0) / Math.max(1, own.near.length);
    const known = (old.near.length + 1) / before.dim(0);
    const fits = own.near.length >= least && own.near.length / added.dim(0) >= lift * known;
    if (!fits || held < hold) continue;
    const theme = {
      direction: direction.toArray() as Float32Array,
      added: own.near.length,
      before: old.near.length,
    };
    return { theme, direction };
  }
  return undefined;
}

/** The mean of the texts that are nearer to it than to any symbol, again and again. [1, S] */
function settled(start: Tensor, points: Tensor, best: Float32Array): Tensor {
  let direction = start;
  for (let round = 0; round < 8; round++) {
    const own = preferring(direction, points, best).at;
    if (own.length === 0) break;
    direction = unitRows(points.indexSelect(0, rows(own)).sum(0, true));
  }
  return direction;
}

function preferring(direction: Tensor, points: Tensor, best: Float32Array): { at: number[]; near: number[] } {
  const products = points.matmul(direction.transpose(0, 1)).toArray() as Float32Array;
  const at = indicesOf(products, (near, n) => near > best[n]!);
  return { at, near: at.map((n) => products[n]!) };
}

/** The nearest symbol of each text, and how near it is. */
function nearness(points: Tensor, symbols: Tensor): { best: Float32Array; symbol: number[] } {
  const { values, indices } = points.matmul(symbols.transpose(0, 1)).topk(1, 1);
  return { best: values.toArray() as Float32Array, symbol: indices.toNumbers() };
}

/** Mean nearness of the texts of each symbol that has some. */
function cohesions({ best, symbol }: { best: Float32Array; symbol: number[] }, K: number): Float32Array {
  const sums = new Float64Array(K);
  const counts = new Float64Array(K);
  for (const [n, k] of symbol.entries()) {
    sums[k]! += best[n]!;
    counts[k]!++;
  }
  return Float32Array.from(sums, (sum, k) => sum / counts[k]!).filter((mean) => Number.isFinite(mean));
}

function quantile(values: Float32Array, share: number): number {
  return Float32Array.from(values).sort()[Math.floor(share * (values.length - 1))]!;
}

function indicesOf(values: Float32Array, wanted: (value: number, at: number) => boolean): number[] {
  return Array.from(values.keys()).filter((at) => wanted(values[at]!, at));
}

const rows = (at: readonly number[]): Tensor => Tensor.fromArray(Int32Array.from(at), [at.length]);
