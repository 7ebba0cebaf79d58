import { UserError } from '@hidden-schema/base';
import { cat, Generator, Tensor, withoutGrad } from '@hidden-schema/torch';
import { mostAligned } from '../../clusters.ts';
import { fitCutoffs, type ReadSymbols } from '../../discovery/cutoffs.ts';
import { unitRows } from '../../discovery/dictionary.ts';
import { travelledLinks } from '../../discovery/fit.ts';
import { joinedLinks } from '../../discovery/joined-graph.ts';
import { discoveryDefaults, discoveryOptions } from '../../discovery/options.ts';
import type { PassagePoints } from '../../discovery/passages.ts';
import { sourceOf } from '../../discovery/point-source.ts';
import type { PursuitEncoder } from '../../discovery/pursuit-encoder.ts';
import { sphericalMeans } from '../../discovery/spherical-means.ts';
import { fitOptions } from '../../discovery/text-discovery.ts';
import { Replicas } from '../../train/replicas.ts';
import type { SymbolChange } from './edited-tensors.ts';
import type { LanguageNetwork } from './network.ts';
import { type OpenedLanguage, withTrainingPoints } from './open.ts';

// Shapes: N training texts, n of them that begin with the symbol, K symbols, S their width.

/** Texts that each half of a symbol needs. */
const fewestOfHalf = discoveryDefaults.fewestTexts;
const halving = { count: 2, rounds: 20, starts: 8, seedingPoints: 8000 };

/**
 * A symbol as two: the directions of the two clusters among the texts that begin with it, the larger under the old
 * number, and the links that free walks travel from and to either.
 */
export async function splitChange(
  opened: OpenedLanguage,
  symbol: number,
  options: { signal?: AbortSignal } = {},
): Promise<SymbolChange> {
  return withTrainingPoints(opened, options, async (texts) => {
    const { read, ...change } = withoutGrad(() => halvedSymbols(opened, texts.points, symbol));
    return { ...change, ...(await readAmong(opened, texts, read)) };
  });
}

/** The symbols with one of them as two, and what changes with them but for links and cutoffs. */
function halvedSymbols(
  opened: OpenedLanguage,
  points: Tensor,
  symbol: number,
): Omit<SymbolChange, 'links' | 'cutoffs'> & { read: ReadSymbols } {
  const before = symbolsOf(opened);
  const first = mostAligned(points, before.starts).toNumbers();
  const own = first.flatMap((k, n) => (k === symbol ? [n] : []));
  const K = before.symbols.dim(0);
  const { halves, sizes } = halvesOf(points, own, { symbol, seed: opened.config.seed });
  const turns = halves.sub(opened.model.symbols.rows().narrow(0, symbol, 1)); // [2, S]
  const halved = (rows: Tensor) => {
    const both = unitRows(rows.narrow(0, symbol, 1).add(turns));
    const after = cat([rows, both.narrow(0, 1, 1)], 0);
    after.select(0, symbol).copy_(both.select(0, 0));
    return after;
  };
  const starts = standing(opened.model)?.starts;
  const symbols = halved(opened.model.symbols.rows());
  return {
    origins: [...Array.from({ length: K }, (_, k) => [k]), [symbol]],
    texts: countsOf(first, K),
    turns: new Map([symbol, K].map((k, half) => [k, turns.select(0, half).toArray() as Float32Array])),
    parts: new Map([symbol, K].map((k, half) => [k, sizes[half]! / own.length])),
    read: { symbols: unitRows(symbols), starts: starts ? halved(starts) : unitRows(symbols) },
  };
}

/** A run's symbols, and the directions of the texts that begin with them. [K, S] each */
export function symbolsOf({ model }: OpenedLanguage): ReadSymbols {
  const symbols = unitRows(model.symbols.rows().detach());
  return { symbols, starts: standing(model)?.starts ?? symbols };
}

/** What the encoder of a run has whose walks may end early. */
const standing = ({ encoder }: LanguageNetwork): PursuitEncoder | undefined =>
  encoder.reads === 'points' && encoder.cutoffs ? encoder : undefined;

/** Link probabilities of symbols by the walks of the texts [J, J], and their cutoffs where walks may end early [J]; frees the symbols. */
export async function readAmong(
  { config, model }: OpenedLanguage,
  { points, passages }: PassagePoints,
  read: ReadSymbols,
): Promise<Pick<SymbolChange, 'links' | 'cutoffs'>> {
  const options = discoveryOptions({ ...fitOptions(config), symbols: read.symbols.dim(0) });
  const shared = { replicas: Replicas.alone };
  const source = sourceOf(points);
  const cutoffs = standing(model) && fitCutoffs(source, read, { ...options, ...shared });
  const found: Tensor[] = [read.symbols, read.starts, ...(cutoffs ? [cutoffs] : [])];
  try {
    const reading = cutoffs ? { ...read, cutoffs } : { symbols: read.symbols };
    const links =
      cutoffs && passages
        ? joinedLinks(
            () => blocksOf({ points, passages }),
            { ...read, cutoffs },
            { ...options, texts: passages.length },
            Replicas.alone,
          )
        : (await travelledLinks(source, reading, options, shared)).links;
    found.push(links);
    const numbers = (tensor: Tensor) => Float64Array.from(tensor.toNumbers());
    return { links: numbers(links), ...(cutoffs ? { cutoffs: numbers(cutoffs) } : {}) };
  } finally {
    for (const tensor of found) tensor.free();
  }
}

/** Texts that are read together. */
const textsAtOnce = 64;

/** Some texts after the other. */
function* blocksOf({ points, passages }: PassagePoints & { passages: Int32Array }): Iterable<PassagePoints> {
  let first = 0;
  for (let at = 0; at < passages.length; at += textsAtOnce) {
    const some = passages.subarray(at, at + textsAtOnce);
    const count = some.reduce((sum, passage) => sum + passage, 0);
    yield { points: points.narrow(0, first, count), passages: some };
    first += count;
  }
}

export function countsOf(first: readonly number[], symbols: number): Float64Array {
  const counts = new Float64Array(symbols);
  for (const k of first) counts[k]!++;
  return counts;
}

/** The two clusters of some points, the larger first. [2, S] */
function halvesOf(points: Tensor, own: readonly number[], of: { symbol: number; seed: number }) {
  const refuse = (why: string): never => {
    throw new UserError(`symbol ${of.symbol} cannot be split: ${why}`);
  };
  if (own.length < 2 * fewestOfHalf)
    refuse(
      `${own.length} training texts, or passages of them, begin with it, and each half needs ${fewestOfHalf}`,
    );
  const some = points.indexSelect(0, Tensor.fromArray(Int32Array.from(own), [own.length]));
  const means = sphericalMeans(some, halving, new Generator(of.seed));
  const sizes = countsOf(mostAligned(some, means).toNumbers(), 2);
  if (Math.min(...sizes) < fewestOfHalf)
    refuse(
      `its texts fall into ${Math.max(...sizes)} and ${Math.min(...sizes)}, and each half needs ${fewestOfHalf}`,
    );
  const order = sizes[0]! >= sizes[1]! ? [0, 1] : [1, 0];
  const halves = means.indexSelect(0, Tensor.fromArray(Int32Array.from(order), [2]));
  return { halves, sizes: order.map((half) => sizes[half]!) };
}
