import { cat, Generator, Tensor } from '@hidden-schema/torch';
import { unitRows } from './dictionary.ts';
import { sphericalMeans } from './spherical-means.ts';

// Shapes: N texts, K symbols, S width.

export interface Theme {
  /** [S] */
  direction: Float32Array;
  /** Which of the added texts are nearer to it than to any symbol, and how many of those before. */
  added: number[];
  before: number;
}

/** A theme has at least so many of the added texts, and so much of all of them. */
const fewest = { texts: 5, share: 0.01 };
/** Of the added texts it has this many times the share that it has of those before. */
const lift = 5;
/** Texts are badly explained below this quantile of those before. */
const badly = 0.1;
/** It holds its texts nearly as well as the loosest but these of the symbols hold theirs, which were fitted to them. */
const loosest = 0.1;
const nearly = 0.8;
const mostThemes = 20;
/** Texts that are explained badly for each cluster that a theme is looked for in, and clusters at the most. */
const clusterTexts = 8;
const mostClusters = 16;
const settlingRounds = 8;
const clustering = { rounds: 15, starts: 4, seedingPoints: 4000 };

/**
 * Themes that added texts have and those before had not: directions that many added texts are nearer to than to any symbol,
 * hardly any earlier text is, and that hold their texts together as symbols do.
 */
export function newThemes(points: { before: Tensor; added: Tensor }, symbols: Tensor, seed: number): Theme[] {
  const generator = new Generator(seed);
  const known = nearness(points.before, symbols);
  const floor = quantile(known.best, badly);
  const hold = nearly * quantile(cohesions(known, symbols.dim(0)), loosest);
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
  const { best } = nearness(added, symbols);
  const strange = indicesOf(best, (near) => near < floor);
  const least = Math.max(fewest.texts, fewest.share * added.dim(0));
  if (strange.length < least) return undefined;
  const earlier = nearness(before, symbols).best;
  const found = starts(added.indexSelect(0, rows(strange)), generator);
  for (const [at, start] of found.entries()) {
    const rivals = found.filter((_, other) => other !== at);
    // Alone it may take up all that is strange; beside the others it is what its own texts have in common.
    for (const bar of [best, rivals.length > 0 ? besides(best, added, rivals) : undefined]) {
      const own = bar && settled(start, added, bar);
      if (!own || own.near.length < least) continue;
      const direction = unitRows(added.indexSelect(0, rows(own.at)).sum(0, true));
      const old = preferring(direction, before, earlier).length;
      const held = own.near.reduce((sum, near) => sum + near, 0) / own.near.length;
      const risen = own.near.length / added.dim(0) >= (lift * (old + 1)) / before.dim(0);
      if (!risen || held < hold) continue;
      const theme = { direction: direction.toArray() as Float32Array, added: own.at, before: old };
      return { theme, direction };
    }
  }
  return undefined;
}

/** How near each text is to a symbol or to one of some directions. */
function besides(best: Float32Array, points: Tensor, directions: readonly Tensor[]): Float32Array {
  const others = nearness(points, cat([...directions], 0)).best;
  return best.map((near, n) => Math.max(near, others[n]!));
}

/** Centres of clusters of texts that are explained badly, the largest first. [1, S] each */
function starts(points: Tensor, generator: Generator): Tensor[] {
  const count = Math.max(1, Math.min(mostClusters, Math.floor(points.dim(0) / clusterTexts)));
  const centres = sphericalMeans(points, { ...clustering, count }, generator);
  const sizes = new Float64Array(count);
  for (const cluster of nearness(points, centres).symbol) sizes[cluster]!++;
  const order = Array.from(sizes.keys()).sort((a, b) => sizes[b]! - sizes[a]!);
  return order.map((cluster) => centres.narrow(0, cluster, 1));
}

interface OwnTexts {
  at: number[];
  /** How near each is to the others' mean. */
  near: number[];
}

/** The texts that are nearer to the mean of those like them than to any symbol, found again and again. */
function settled(start: Tensor, points: Tensor, best: Float32Array): OwnTexts {
  let own = preferring(start, points, best);
  let found: OwnTexts = { at: [], near: [] };
  for (let round = 0; round < settlingRounds && own.length > 1; round++) {
    const sum = points.indexSelect(0, rows(own)).sum(0, true);
    found = nearOthers(sum, points, own, best);
    const next = new Set([
      ...found.at,
      ...preferring(unitRows(sum), points, best).filter((n) => !own.includes(n)),
    ]);
    own = [...next];
  }
  return found;
}

/**
 * Of some texts those that are nearer to the mean of the others than to any symbol. A text is part of the mean of its own
 * theme: with itself in it, a few texts that have nothing in common would look like one.
 */
function nearOthers(sum: Tensor, points: Tensor, own: readonly number[], best: Float32Array): OwnTexts {
  const some = points.indexSelect(0, rows(own));
  const products = some.matmul(sum.transpose(0, 1)).toArray() as Float32Array; // s·x
  const squares = some.mul(some).sum(1).toArray() as Float32Array;
  const all = sum.mul(sum).sum().item();
  const found: OwnTexts = { at: [], near: [] };
  for (const [i, n] of own.entries()) {
    const rest = Math.sqrt(Math.max(1e-12, all - 2 * products[i]! + squares[i]!));
    const near = (products[i]! - squares[i]!) / rest;
    if (near <= best[n]!) continue;
    found.at.push(n);
    found.near.push(near);
  }
  return found;
}

/** Texts that are nearer to a direction [1, S] than to any symbol. */
function preferring(direction: Tensor, points: Tensor, best: Float32Array): number[] {
  const products = points.matmul(direction.transpose(0, 1)).toArray() as Float32Array;
  return indicesOf(products, (near, n) => near > best[n]!);
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

const quantile = (values: Float32Array, share: number): number =>
  Float32Array.from(values).sort()[Math.floor(share * (values.length - 1))]!;

const indicesOf = (values: Float32Array, wanted: (value: number, at: number) => boolean): number[] =>
  Array.from(values.keys()).filter((at) => wanted(values[at]!, at));

const rows = (at: readonly number[]): Tensor => Tensor.fromArray(Int32Array.from(at), [at.length]);
