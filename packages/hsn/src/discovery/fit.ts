import { setImmediate } from 'node:timers/promises';
import { UserError } from '@hidden-schema/base';
import { Generator, noGrad, scope, type Tensor, zeros } from '@hidden-schema/torch';
import { countLikelyLinks } from '../graph/likely.ts';
import { Replicas } from '../train/replicas.ts';
import { pursueBlocks, pursuedBlocks } from './blocks.ts';
import { type Dictionary, dictionaryOf, unitRows } from './dictionary.ts';
import { checkPoints, type Discovered, type EncodedPoints, encodePoints } from './encode.ts';
import { linkProbabilities } from './links.ts';
import { type DiscoveryOptions, discoveryOptions } from './options.ts';
import { isSmall, type PointSource, pointsAt, sourceOf } from './point-source.ts';
import type { PursuitOptions } from './pursuit.ts';
import { anchored, type Shared, sharedMeans } from './spherical-means.ts';
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
  /** The processes that hold the points together; this one alone unless given. */
  replicas?: Replicas;
}

export interface FittedDictionary {
  discovered: Discovered;
  sweeps: SweepRecord[];
}

export interface FittedSymbols extends FittedDictionary {
  encoded: EncodedPoints;
}

interface State {
  symbols: Tensor;
  links?: Tensor;
}

/** Symbols, graph and walks of texts given as points of about unit length [N, S] float32. */
export async function fitSymbols(points: Tensor, settings: FitGiven = {}): Promise<FittedSymbols> {
  checkPoints(points);
  const fitted = await fitDictionary(sourceOf(points), settings);
  return { ...fitted, encoded: encodePoints(fitted.discovered, points) };
}

/**
 * Symbols and graph of texts given as points of about unit length, which processes hold together: each sweeps its own,
 * sums are added up, and all have the same symbols after each sweep.
 *
 * Symbols start as the directions of K clusters. In each sweep every text takes its walk (`pursue`), then each symbol
 * turns to its own uses: to the texts that begin with it as a cluster's mean does, `firstWeight` times, and to what is left
 * for it in those that pass through it. After the free sweeps the graph is set in closed form from the
 * expected traversals, and the remaining sweeps keep to its links.
 */
export async function fitDictionary(points: PointSource, settings: FitGiven = {}): Promise<FittedDictionary> {
  const { signal, onSweep, seeds, replicas = Replicas.alone, ...chosen } = settings;
  const options = discoveryOptions(chosen);
  checkCounts(points.count, options.symbols, seeds);
  await replicas.goOn(signal);
  const shared = { replicas, signal };
  const means = {
    count: options.symbols,
    rounds: options.clusterRounds,
    starts: options.clusterStarts,
    seedingPoints: options.seedingPoints,
    anchors: seeds,
  };
  let state: State = { symbols: await sharedMeans(points, means, new Generator(options.seed), shared) };
  const sweeps: SweepRecord[] = [];
  try {
    const count = options.freeSweeps + (options.length > 1 ? options.linkedSweeps : 0);
    for (let sweep = 0; sweep < count; sweep++) {
      const after = await swept(points, { ...state, seeds }, { options, sweep }, shared);
      release(state, after.state);
      state = after.state;
      sweeps.push({ sweep: sweep + 1, sweeps: count, ...after.record });
      onSweep?.(sweeps.at(-1)!);
    }
  } catch (error) {
    release(state);
    throw error;
  }
  return { discovered: { symbols: state.symbols, linkProbabilities: state.links!, options }, sweeps };
}

function checkCounts(texts: number, symbols: number, seeds: Tensor | undefined): void {
  if (texts < symbols)
    throw new UserError(
      `${symbols} symbols need at least as many texts, got ${texts}; ask for fewer symbols or give more texts`,
    );
  if (seeds && seeds.dim(0) > symbols)
    throw new UserError(`${seeds.dim(0)} seeds need as many symbols, got ${symbols}; ask for more symbols`);
}

/** Frees what the next state no longer holds. */
function release(state: State, next?: State): void {
  if (state.symbols !== next?.symbols) state.symbols.free();
  if (state.links !== next?.links) state.links?.free();
}

/** The graph of symbols given as they are: one sweep of free walks over all points, and the closed form. [K, K] */
export function travelledLinks(points: Tensor, symbols: Tensor, options: DiscoveryOptions): Tensor {
  const [texts, width] = points.shape as [number, number];
  const sums = new SweepSums({ symbols: symbols.dim(0), width, firstWeight: options.firstWeight });
  const { length, candidates } = options;
  const sharpness = { first: options.firstSharpness, later: options.sharpness };
  try {
    return noGrad(() =>
      scope(() => {
        const dictionary = dictionaryOf(symbols);
        pursueBlocks(sourceOf(points), dictionary, { length, candidates, sharpness }, (...found) =>
          sums.add(...found),
        );
        return linkProbabilities(sums.travelled(texts), { ...options, texts });
      }),
    );
  } finally {
    sums.free();
  }
}

type Recorded = Omit<SweepRecord, 'sweep' | 'sweeps'>;

/** Which sweep of a fit. */
interface Turn {
  options: DiscoveryOptions;
  /** From 0. */
  sweep: number;
}

/** How walks are looked for in a sweep. */
function pursuitOf({ options, sweep }: Turn): PursuitOptions {
  const length = Math.min(options.length, 1 + sweep * growth(options));
  return {
    length: linksIn({ options, sweep }) ? options.length : length,
    // The graph is set, and symbols end, by the whole posterior; until then the best walk does.
    candidates: sweep >= options.freeSweeps - 1 ? options.candidates : 1,
    sharpness: { first: options.firstSharpness, later: options.sharpness },
  };
}

/** Whether the graph is set after this sweep. */
const linksIn = ({ options, sweep }: Turn): boolean => sweep === options.freeSweeps - 1;

type SeededState = State & { seeds: Tensor | undefined };

async function swept(
  points: PointSource,
  state: SeededState,
  turn: Turn,
  { replicas, signal }: Shared,
): Promise<{ state: State; record: Recorded }> {
  const { symbols, firstWeight } = turn.options;
  const fewest = fewestTexts(points.count, turn);
  const worst = fewest > 0 ? symbols : 0;
  const wide = isSmall(points.count);
  const sums = new SweepSums({ symbols, width: points.width, firstWeight, wide, worst });
  const dictionary = noGrad(() => dictionaryOf(state.symbols, state.links));
  const pursuit = pursuitOf(turn);
  try {
    for (const _ of pursuedBlocks(points, dictionary, pursuit, (...found) => sums.add(...found))) {
      await setImmediate();
      if (signal?.aborted) break;
    }
    await replicas.goOn(signal);
    sums.share(replicas);
    const { restarted, ...next } = nextState(points, { ...state, fewest }, sums, { turn, replicas });
    const links = state.links ? countLikelyLinks(state.links) : 0;
    return { state: next, record: { length: pursuit.length, explained: sums.explained(), restarted, links } };
  } finally {
    sums.free();
    freeGates(dictionary);
  }
}

/** What a dictionary holds beside the symbols that it was made of. */
function freeGates({ overlaps, links }: Dictionary): void {
  overlaps.free();
  if (!links) return;
  for (const { factor, added } of [links.steps, links.starts]) {
    factor.free();
    added.free();
  }
}

/** Symbols and graph after a sweep, those of rank 0 in all processes: processors of two kinds may round differently. */
function nextState(
  points: PointSource,
  before: SeededState & { fewest: number },
  sums: SweepSums,
  { turn, replicas }: { turn: Turn; replicas: Replicas },
): State & { restarted: number } {
  const { options } = turn;
  return noGrad(() =>
    scope(() => {
      const texts = points.count;
      const travelled = () => linkProbabilities(sums.travelled(texts), { ...options, texts });
      const links = linksIn(turn)
        ? replicas.leads
          ? travelled()
          : zeros([options.symbols, options.symbols])
        : undefined;
      const { symbols, restarted } = turned(points, before, sums, replicas);
      replicas.broadcast(links ? [symbols, links] : [symbols]);
      const graph = links?.keep() ?? before.links;
      return { symbols: symbols.keep(), ...(graph ? { links: graph } : {}), restarted };
    }),
  );
}

/** Steps that a walk gains each sweep: one, or what makes it whole halfway through the free sweeps. */
function growth({ length, freeSweeps }: DiscoveryOptions): number {
  return Math.max(1, Math.ceil((2 * (length - 1)) / freeSweeps));
}

/** Of a symbol's even part of the texts: where that is small, a fixed number would start most symbols again for ever. */
const fewestShare = 1 / 4;

/** Texts below which a symbol starts again; later than halfway through the free sweeps it could no longer settle. */
function fewestTexts(texts: number, { options, sweep }: Turn): number {
  if (sweep >= options.freeSweeps / 2) return 0;
  return Math.min(options.fewestTexts, (fewestShare * texts) / options.symbols);
}

/** Symbols turned to their uses; those of fewer than `fewest` texts start again at texts that are explained worst. */
function turned(
  points: PointSource,
  { symbols: before, seeds, fewest }: SeededState & { fewest: number },
  sums: SweepSums,
  replicas: Replicas,
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
  const fresh = unitRows(pointsAt(points, sums.worst.places(poor.length), replicas));
  for (const [at, symbol] of poor.entries()) symbols.select(0, symbol).copy_(fresh.select(0, at));
  return { symbols, restarted: poor.length };
}
