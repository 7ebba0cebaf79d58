import { UserError } from '@hidden-schema/base';
import { cat, Generator, noGrad, scope, Tensor } from '@hidden-schema/torch';
import { mostAligned } from '../../clusters.ts';
import { unitRows } from '../../discovery/dictionary.ts';
import { travelledLinks } from '../../discovery/fit.ts';
import { discoveryDefaults, discoveryOptions } from '../../discovery/options.ts';
import { sphericalMeans } from '../../discovery/spherical-means.ts';
import { fitOptions } from './discovery.ts';
import type { SymbolChange } from './edited-tensors.ts';
import { type OpenedLanguage, openLanguageCorpus, openPoints } from './open.ts';

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
  return withPoints(opened, options, (points) => {
    const before = unitRows(opened.model.symbols.rows().detach());
    const first = mostAligned(points, before).toNumbers();
    const own = first.flatMap((k, n) => (k === symbol ? [n] : []));
    const texts = countsOf(first, before.dim(0));
    const { halves, sizes } = halvesOf(points, own, { symbol, seed: opened.config.seed });
    const K = before.dim(0);
    const after = cat([before, halves.narrow(0, 1, 1)], 0);
    after.select(0, symbol).copy_(halves.select(0, 0));
    const turn = (half: number) =>
      halves.select(0, half).sub(opened.model.symbols.rows().select(0, symbol)).toArray() as Float32Array;
    const all = Array.from({ length: K }, (_, k) => [k]);
    return {
      origins: [...all, [symbol]],
      texts,
      turns: new Map([symbol, K].map((k, half) => [k, turn(half)])),
      parts: new Map([symbol, K].map((k, half) => [k, sizes[half]! / own.length])),
      links: linksAmong(opened, points, after),
    };
  });
}

/** Does something with the training texts of a run as points. [N, S] */
async function withPoints<T>(
  opened: OpenedLanguage,
  options: { signal?: AbortSignal },
  body: (points: Tensor) => T,
): Promise<T> {
  const corpus = await openLanguageCorpus(opened, options);
  const placed = await openPoints(opened, corpus, options);
  const points = placed!.of(corpus.splits.train);
  try {
    return noGrad(() => scope(() => body(points)));
  } finally {
    points.free();
    placed!.free();
    corpus.close();
  }
}

/** Link probabilities of symbols [J, S] by the walks of the points. [J, J] */
export function linksAmong({ config }: OpenedLanguage, points: Tensor, symbols: Tensor): Float64Array {
  const options = discoveryOptions({ ...fitOptions(config), symbols: symbols.dim(0) });
  return Float64Array.from(travelledLinks(points, symbols, options).toNumbers());
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
    refuse(`${own.length} training texts begin with it, and each half needs ${fewestOfHalf}`);
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
