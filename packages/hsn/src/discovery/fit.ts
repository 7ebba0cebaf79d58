import { setImmediate } from 'node:timers/promises';
import { UserError } from '@hidden-schema/base';
import { Generator, noGrad, scope, Tensor } from '@hidden-schema/torch';
import { countLikelyLinks } from '../graph/likely.ts';
import { pursueBlocks } from './blocks.ts';
import { dictionaryOf, unitRows } from './dictionary.ts';
import { checkPoints, type Discovered, type EncodedPoints, encodePoints } from './encode.ts';
import { linkProbabilities } from './links.ts';
import { type DiscoveryOptions, discoveryOptions } from './options.ts';
import { anchored, sphericalMeans } from './spherical-means.ts';
import { SweepSums } from './sweep-sums.ts';

// Shapes: N texts, K symbols, S width of a point.

/** What one sweep over all texts did. */
export interface SweepRecord {
  /** From 1. */
  sweep: number;
  sweeps: number;
  /** Steps of the walks in this sweep. */
  length: number;
  /** Share of the points' squared length that walks explain. */
  explained: number;
  /** Symbols that started again at a text explained badly. */
  restarted: number;
  /** Links of probability above one half; 0 while steps are free. */
  links: number;
}

export interface FitGiven extends Partial<DiscoveryOptions> {
  signal?: AbortSignal;
  onSweep?: (record: SweepRecord) => void;
  /** Directions of symbols that are asked for: they come first, stay near, and never start again. [n, S], unit rows */
  seeds?: Tensor;
}

export interface FittedSymbols {
  discovered: Discovered;
  encoded: EncodedPoints;
  sweeps: SweepRecord[];
}

interface State {
  symbols: Tensor;
  links?: Tensor;
}

/**
 * Symbols, graph and walks of texts given as points of about unit length [N, S] float32.
 *
 * Symbols start as the directions of K clusters. In each sweep every text takes its walk (`pursue`), then each symbol
 * turns to its own uses: to the texts that begin with it as a cluster's mean does, `firstWeight` times, and to what is left
 * for it in those that pass through it. After the free sweeps the graph is set in closed form from the
 * expected traversals, and the remaining sweeps keep to its links.
 */
export async function fitSymbols(points: Tensor, settings: FitGiven = {}): Promise<FittedSymbols> {
  const { signal, onSweep, seeds, ...chosen } = settings;
  const options = discoveryOptions(chosen);
  checkPoints(points);
  if (points.dim(0) < options.symbols)
    throw new UserError(
      `${options.symbols} symbols need at least as many texts, got ${points.dim(0)}; ask for fewer symbols or give more texts`,
    );
  if (seeds && seeds.dim(0) > options.symbols)
    throw new UserError(
      `${seeds.dim(0)} seeds need as many symbols, got ${options.symbols}; ask for more symbols`,
    );
  signal?.throwIfAborted();
  const means = {
    count: options.symbols,
    rounds: options.clusterRounds,
    starts: options.clusterStarts,
    seedingPoints: options.seedingPoints,
    anchors: seeds,
  };
  let state: State = { symbols: sphericalMeans(points, means, new Generator(options.seed)).keep() };
  const sweeps: SweepRecord[] = [];
  try {
    const count = options.freeSweeps + (options.length > 1 ? options.linkedSweeps : 0);
    for (let sweep = 0; sweep < count; sweep++) {
      await setImmediate();
      signal?.throwIfAborted();
      const after = swept(points, { ...state, seeds }, options, sweep);
      release(state, after.state);
      state = after.state;
      sweeps.push({ sweep: sweep + 1, sweeps: count, ...after.record });
      onSweep?.(sweeps.at(-1)!);
    }
  } catch (error) {
    release(state);
    throw error;
  }
  const discovered = { symbols: state.symbols, linkProbabilities: state.links!, options };
  return { discovered, encoded: encodePoints(discovered, points), sweeps };
}

/** Frees what the next state no longer holds. */
function release(state: State, next?: State): void {
  if (state.symbols !== next?.symbols) state.symbols.free();
  if (state.links !== next?.links) state.links?.free();
}

/** The graph of symbols given as they are: one sweep of free walks over all points, and the closed form. [K, K] */
export function travelledLinks(points: Tensor, symbols: Tensor, options: DiscoveryOptions): Tensor {
  const sums = new SweepSums(symbols.dim(0), points.dim(1), options.firstWeight);
  const { length, candidates } = options;
  const sharpness = { first: options.firstSharpness, later: options.sharpness };
  try {
    return noGrad(() =>
      scope(() => {
        pursueBlocks(points, dictionaryOf(symbols), { length, candidates, sharpness }, (found, block) =>
          sums.add(found, block),
        );
        const texts = points.dim(0);
        return linkProbabilities(sums.travelled(texts), { ...options, texts });
      }),
    );
  } finally {
    sums.free();
  }
}

type Recorded = Omit<SweepRecord, 'sweep' | 'sweeps'>;

function swept(
  points: Tensor,
  state: State & { seeds: Tensor | undefined },
  options: DiscoveryOptions,
  sweep: number,
): { state: State; record: Recorded } {
  const length = Math.min(options.length, 1 + sweep * growth(options));
  const linking = sweep === options.freeSweeps - 1;
  const sums = new SweepSums(options.symbols, points.dim(1), options.firstWeight);
  try {
    return noGrad(() =>
      scope(() => {
        const dictionary = dictionaryOf(state.symbols, state.links);
        const sharpness = { first: options.firstSharpness, later: options.sharpness };
        // The graph is set, and symbols end, by the whole posterior; until then the best walk does.
        const candidates = sweep >= options.freeSweeps - 1 ? options.candidates : 1;
        const whole = linking ? options.length : length;
        pursueBlocks(points, dictionary, { length: whole, candidates, sharpness }, (found, block) =>
          sums.add(found, block),
        );
        const texts = points.dim(0);
        const links = linking ? linkProbabilities(sums.travelled(texts), { ...options, texts }) : state.links;
        const { symbols, restarted } = turned(points, state, sums, fewestTexts(texts, options, sweep));
        return {
          state: { symbols: symbols.keep(), ...(links ? { links: links.keep() } : {}) },
          record: {
            length: whole,
            explained: explainedBy(points, sums),
            restarted,
            links: state.links ? countLikelyLinks(state.links) : 0,
          },
        };
      }),
    );
  } finally {
    sums.free();
  }
}

/** Steps that a walk gains each sweep: one, or what makes it whole halfway through the free sweeps. */
function growth({ length, freeSweeps }: DiscoveryOptions): number {
  return Math.max(1, Math.ceil((2 * (length - 1)) / freeSweeps));
}

/** Of a symbol's even part of the texts: where that is small, a fixed number would start most symbols again for ever. */
const fewestShare = 1 / 4;

/** Texts below which a symbol starts again; later than halfway through the free sweeps it could no longer settle. */
function fewestTexts(texts: number, options: DiscoveryOptions, sweep: number): number {
  if (sweep >= options.freeSweeps / 2) return 0;
  return Math.min(options.fewestTexts, (fewestShare * texts) / options.symbols);
}

function explainedBy(points: Tensor, sums: SweepSums): number {
  const all = points.mul(points).sum().item();
  const left = sums.left().reduce((sum, part) => sum + part, 0);
  return all > 0 ? 1 - left / all : 1;
}

/** Symbols turned to their uses; those of fewer than `fewest` texts start again at texts that are explained worst. */
function turned(
  points: Tensor,
  { symbols: before, seeds }: { symbols: Tensor; seeds: Tensor | undefined },
  sums: SweepSums,
  fewest: number,
): { symbols: Tensor; restarted: number } {
  const directions = sums.directions(before);
  const lengths = directions.mul(directions).sum(1, true);
  // A symbol without uses, or with uses that cancel, stays as it is.
  const idle = lengths.le(1e-12).to('float32');
  const symbols = anchored(unitRows(directions.add(before.mul(idle))), seeds);
  const planted = seeds?.dim(0) ?? 0;
  const poor = [...sums.firsts()].flatMap((texts, symbol) =>
    texts < fewest && symbol >= planted ? [symbol] : [],
  );
  if (poor.length === 0) return { symbols, restarted: 0 };
  const left = sums.left();
  const worst = Tensor.fromArray(left, [left.length]).topk(poor.length, 0).indices;
  const fresh = unitRows(points.indexSelect(0, worst));
  for (const [at, symbol] of poor.entries()) symbols.select(0, symbol).copy_(fresh.select(0, at));
  return { symbols, restarted: poor.length };
}
