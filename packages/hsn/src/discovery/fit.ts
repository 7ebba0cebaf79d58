import { setImmediate } from 'node:timers/promises';
import { UserError } from '@hidden-schema/base';
import { engineInfo, Generator, setThreads, type Tensor, withoutGrad, zeros } from '@hidden-schema/torch';
import { memberSums, mostAligned, unmoved } from '../clusters.ts';
import { countLikelyLinks } from '../graph/likely.ts';
import { Replicas } from '../train/replicas.ts';
import type { Preparation, PreparationState, PreparationWatch } from '../train/task.ts';
import { fitCutoffs, type ReadSymbols } from './cutoffs.ts';
import { dictionaryOf, type Reading, unitRows } from './dictionary.ts';
import { diffusePoints } from './diffusion.ts';
import { type Discovered, type EncodedPoints, encodePoints } from './encode.ts';
import { inferLinks, TraversalSums } from './links.ts';
import { type DiscoveryOptions, discoveryOptions } from './options.ts';
import { drawnPlaces, isSmall, type PointSource, pointsAt, pursuedBlocks, sourceOf } from './point-source.ts';
import { checkPoints } from './points.ts';
import { anchored, fitStarts, rounds, type Shared, sharedMeans } from './spherical-means.ts';

// Shapes: N texts, n of them among which symbols are looked for, K symbols, S width of a point.

/** The stages of a fit, in order. */
export const fitStages = ['neighbours', 'symbols', 'cutoffs', 'links'] as const;

/** What is known after a stage. */
export interface StageRecord {
  stage: (typeof fitStages)[number];
  /** From 1. */
  done: number;
  /** Share of the points' squared length that walks explain, and links of probability above one half; after the last. */
  explained?: number;
  links?: number;
}

export interface FitGiven extends Partial<DiscoveryOptions> {
  signal?: AbortSignal;
  onStage?: (record: StageRecord) => void;
  /** Directions of symbols that are asked for: they come first and stay near. [n, S], unit rows */
  seeds?: Tensor;
  /** The processes that hold the points together; this one alone unless given. */
  replicas?: Replicas;
}

export interface FittedDictionary {
  discovered: Discovered;
  explained: number;
}

export interface FittedSymbols extends FittedDictionary {
  encoded: EncodedPoints;
}

/** Symbols, graph and walks of texts given as points of about unit length [N, S] float32. */
export async function fitSymbols(points: Tensor, settings: FitGiven = {}): Promise<FittedSymbols> {
  checkPoints(points);
  const fitted = await fitDictionary(sourceOf(points), settings);
  return { ...fitted, encoded: encodePoints(fitted.discovered, points) };
}

/**
 * Symbols and graph of texts given as points of about unit length, which processes hold together and of which all find the
 * same.
 *
 * Texts are linked to their nearest ones and averaged with them (`diffusePoints`); K clusters of these averages are the
 * texts of K symbols. A symbol's vector is the mean direction of its texts as they are, its start the direction by which
 * they are told from others (`fitStarts`), its cutoff the cosine from which it stands out for a text (`fitCutoffs`). The
 * graph is set in closed form from the expected traversals of walks that may step anywhere.
 */
export async function fitDictionary(points: PointSource, settings: FitGiven = {}): Promise<FittedDictionary> {
  const { signal, onStage, seeds, replicas = Replicas.alone, ...chosen } = settings;
  const options = discoveryOptions(chosen);
  checkCounts(points.count, options.symbols, seeds);
  await replicas.syncOrAbort(signal);
  const shared = { replicas, signal };
  const report = (stage: StageRecord['stage'], figures: Partial<StageRecord> = {}) =>
    onStage?.({ stage, done: fitStages.indexOf(stage) + 1, ...figures });
  const generator = new Generator(options.seed);
  // Diffused points of a group are all but the same, and rounding would part them: few are worked on by one thread.
  const { threads } = engineInfo();
  if (isSmall(points.count)) setThreads(1);
  const sample = sampleOf(points, options, { generator, replicas });
  const found: Tensor[] = [];
  try {
    const diffused = await diffusePoints(sample, options, shared);
    report('neighbours');
    const read = await foundSymbols(sample, diffused, { options, seeds, generator }, shared);
    found.push(read.symbols, read.starts);
    report('symbols');
    const { falseDiscoveryRate } = options;
    const cutoffs = fitCutoffs(points, read, { falseDiscoveryRate, replicas }).keep();
    found.push(cutoffs);
    await replicas.syncOrAbort(signal);
    report('cutoffs');
    const standing = options.stays ? { ...read, cutoffs } : { symbols: read.symbols };
    const { links, explained } = await travelledLinks(points, standing, options, shared);
    report('links', { explained, links: countLikelyLinks(links) });
    return { discovered: { ...read, cutoffs, linkProbabilities: links, options }, explained };
  } catch (error) {
    for (const tensor of found) tensor.free();
    throw error;
  } finally {
    setThreads(threads);
    sample.free();
  }
}

function checkCounts(texts: number, symbols: number, seeds: Tensor | undefined): void {
  if (texts < symbols)
    throw new UserError(
      `${symbols} symbols need at least as many texts, got ${texts}; ask for fewer symbols or give more texts`,
    );
  if (seeds && seeds.dim(0) > symbols)
    throw new UserError(`${seeds.dim(0)} seeds need as many symbols, got ${symbols}; ask for more symbols`);
}

/** The points among which symbols are looked for, all in every process: all of them, or some drawn by the seed. [n, S] */
function sampleOf(
  points: PointSource,
  { mostDiffused }: DiscoveryOptions,
  { generator, replicas }: { generator: Generator; replicas: Replicas },
): Tensor {
  const { count } = points;
  const places =
    count <= mostDiffused
      ? Array.from({ length: count }, (_, place) => place)
      : drawnPlaces(count, mostDiffused, generator).sort((a, b) => a - b);
  return withoutGrad(() => pointsAt(points, places, replicas)).keep();
}

interface SymbolSearch {
  options: DiscoveryOptions;
  seeds: Tensor | undefined;
  generator: Generator;
}

/** The symbols of clusters of diffused points, which are freed: rank 0 finds them for all, since processors may round differently. */
async function foundSymbols(
  sample: Tensor,
  diffused: Tensor,
  search: SymbolSearch,
  { replicas, signal }: Shared,
): Promise<ReadSymbols> {
  const size = [search.options.symbols, sample.dim(1)];
  let made: ReadSymbols | undefined;
  try {
    if (replicas.leads) made = await clustered(sample, diffused, search, signal);
    // Where rank 0 was stopped, the others hear of it here: they would wait for symbols that never come.
    await replicas.syncOrAbort(signal);
    made ??= { symbols: zeros(size).keep(), starts: zeros(size).keep() };
    replicas.broadcast([made.symbols, made.starts]);
    return made;
  } catch (error) {
    made?.symbols.free();
    made?.starts.free();
    throw error;
  } finally {
    diffused.free();
  }
}

/** None where it is stopped. */
async function clustered(
  sample: Tensor,
  diffused: Tensor,
  { options, seeds, generator }: SymbolSearch,
  signal: AbortSignal | undefined,
): Promise<ReadSymbols | undefined> {
  const means = {
    count: options.symbols,
    rounds: options.clusterRounds,
    starts: options.clusterStarts,
    seedingPoints: options.seedingPoints,
    anchors: seeds,
  };
  const alone = { replicas: Replicas.alone, signal };
  const drawn = await sharedMeans(sourceOf(diffused), means, generator, alone).catch((error: unknown) => {
    if (!signal?.aborted) throw error;
  });
  if (!drawn) return undefined;
  try {
    return withoutGrad(() => {
      const centres = settled(diffused, drawn, options, seeds);
      const given = mostAligned(diffused, centres);
      const { sums, sizes } = memberSums(sample, given, options.symbols, summedAtOnce);
      const symbols = anchored(unitRows(sums.add(unmoved(centres, sizes))), seeds);
      return { symbols: symbols.keep(), starts: fitStarts(sample, given, symbols).keep() };
    });
  } finally {
    drawn.free();
  }
}

/** Points summed at a time. */
const summedAtOnce = 4096;
/** Of a symbol's even part of the texts: where that is small, a fixed number would start most symbols again. */
const fewestShare = 1 / 4;
/** Times that symbols of few texts start again, and rounds in which all settle then. */
const restarts = { most: 3, rounds: 4 };

/** Centres of which each has enough points, or as near to that as a few restarts at far points come. [K, S] */
function settled(
  points: Tensor,
  drawn: Tensor,
  { symbols, fewestTexts }: DiscoveryOptions,
  seeds: Tensor | undefined,
): Tensor {
  const fewest = Math.min(fewestTexts, (fewestShare * points.dim(0)) / symbols);
  const planted = seeds?.dim(0) ?? 0;
  let centres = drawn;
  for (let again = 0; again < restarts.most; again++) {
    const products = points.matmul(centres.transpose(0, 1));
    const sizes = products.argmax(1).oneHot(symbols).sum(0).toNumbers();
    const poor = sizes.flatMap((texts, symbol) => (texts < fewest && symbol >= planted ? [symbol] : []));
    if (poor.length === 0) break;
    const far = products.amax(1).neg().topk(poor.length, 0).indices;
    const fresh = unitRows(points.indexSelect(0, far));
    const moved = centres.clone();
    for (const [at, symbol] of poor.entries()) moved.select(0, symbol).copy_(fresh.select(0, at));
    centres = rounds(points, moved, restarts.rounds, seeds);
  }
  return centres;
}

/**
 * The graph of symbols given as they are: walks of all points that may step anywhere, and the closed form. In a run whose
 * walks never end early symbols have neither starts nor cutoffs. [K, K]
 */
export async function travelledLinks(
  points: PointSource,
  { symbols, starts, cutoffs }: Pick<ReadSymbols, 'symbols'> & Pick<Reading, 'starts' | 'cutoffs'>,
  options: DiscoveryOptions,
  { replicas, signal }: Shared,
): Promise<{ links: Tensor; explained: number }> {
  const sums = new TraversalSums(symbols.dim(0));
  const dictionary = withoutGrad(() => dictionaryOf(symbols, { starts, cutoffs }));
  const { length, candidates } = options;
  const sharpness = { first: options.firstSharpness, later: options.sharpness };
  try {
    const blocks = pursuedBlocks(points, dictionary, { length, candidates, sharpness }, (found) =>
      sums.add(found),
    );
    for (const _ of blocks) {
      await setImmediate();
      if (signal?.aborted) break;
    }
    await replicas.syncOrAbort(signal);
    sums.share(replicas);
    const texts = points.count;
    const links = withoutGrad(() => inferLinks(sums.travelled(texts), { ...options, texts })).keep();
    replicas.broadcast([links]);
    return { links, explained: sums.explained() };
  } finally {
    sums.free();
    dictionary.overlaps.free();
  }
}

/** Finding symbols and graph before the first step. What is stopped on the way begins again. */
export abstract class DiscoveryStage implements Preparation {
  readonly label = 'discover';
  readonly unit = 'stages';
  readonly most = fitStages.length;
  #done = 0;

  get wanted(): boolean {
    return this.#done < this.most;
  }
  get state(): PreparationState {
    return { count: this.#done };
  }
  set state({ count }: PreparationState) {
    this.#done = count;
  }

  protected finish(): void {
    this.#done = this.most;
  }

  abstract advance(watch: PreparationWatch): Promise<Record<string, number>>;
}
