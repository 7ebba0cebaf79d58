import { noGrad, scope, type Tensor } from '@hidden-schema/torch';
import type { ReadSymbols } from '../../discovery/cutoffs.ts';
import { type Dictionary, dictionaryOf } from '../../discovery/dictionary.ts';
import { type Discovered, dictionaryOn, pursuitOn } from '../../discovery/encode.ts';
import { joinPassages, type PassagePoints } from '../../discovery/joined-passages.ts';
import { inferLinks } from '../../discovery/links.ts';
import type { DiscoveryOptions } from '../../discovery/options.ts';
import { ownPart } from '../../discovery/point-source.ts';
import { WalkCounts } from '../../discovery/walk-counts.ts';
import type { Replicas } from '../../train/replicas.ts';
import type { CorpusPoints } from './corpus-vectors.ts';

// Shapes: K symbols.

/** Texts whose passages are read together. */
const joinedAtOnce = 64;

/** Training texts, of which each process reads its part. */
interface JoinedTexts {
  placed: CorpusPoints;
  /** Rows of all of them. */
  rows: Int32Array;
  replicas: Replicas;
}

/**
 * The graph that walks of whole texts make (`joinPassages`), where some have several passages: links by walks that may
 * step anywhere, and how often the walks along these links are on each symbol.
 */
export function joinedGraph(
  discovered: Discovered,
  { placed, rows, replicas }: JoinedTexts,
): { linkProbabilities: Tensor; counts: WalkCounts } {
  const { first, end } = ownPart(rows.length, replicas);
  const own = rows.subarray(first, end);
  const texts = function* () {
    for (let at = 0; at < own.length; at += joinedAtOnce)
      yield placed.reading(own.subarray(at, at + joinedAtOnce));
  };
  const links = joinedLinks(texts, discovered, { ...discovered.options, texts: rows.length }, replicas);
  const dictionary = scope(() => dictionaryOn({ ...discovered, linkProbabilities: links }));
  const counts = countedWalks(texts(), dictionary, discovered.options, replicas);
  return { linkProbabilities: links, counts };
}

/** Link probabilities of symbols by the walks of whole texts that may step anywhere. [K, K] */
export function joinedLinks(
  texts: () => Iterable<PassagePoints>,
  { symbols, starts, cutoffs }: ReadSymbols & { cutoffs: Tensor },
  options: DiscoveryOptions & { texts: number },
  replicas: Replicas,
): Tensor {
  const free = noGrad(() => scope(() => dictionaryOf(symbols, { starts, cutoffs })));
  const travelled = countedWalks(texts(), free, options, replicas).travelled(options.texts);
  const links = noGrad(() => scope(() => inferLinks(travelled, options))).keep();
  replicas.broadcast([links]);
  return links;
}

/** Where the walks of all processes' texts are at each step; frees the texts' points. */
function countedWalks(
  texts: Iterable<PassagePoints>,
  dictionary: Dictionary,
  options: DiscoveryOptions,
  replicas: Replicas,
): WalkCounts {
  const counts = new WalkCounts(options);
  for (const { points, passages } of texts) {
    const each = passages ?? new Int32Array(points.dim(0)).fill(1);
    noGrad(() =>
      scope(() => {
        const { walks } = joinPassages({ points, passages: each }, dictionary, pursuitOn(options));
        counts.add(walks.contiguous().toNumbers());
      }),
    );
    points.free();
  }
  counts.share(replicas);
  return counts;
}
