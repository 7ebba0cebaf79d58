import { scope, type Tensor, withoutGrad } from '@hidden-schema/torch';
import type { Replicas } from '../train/replicas.ts';
import type { ReadSymbols } from './cutoffs.ts';
import { type Dictionary, dictionaryOf } from './dictionary.ts';
import { type Discovered, dictionaryOn, pursuitOn, WalkCounts } from './encode.ts';
import { inferLinks } from './links.ts';
import type { DiscoveryOptions } from './options.ts';
import { joinPassages, type PassagePoints } from './passages.ts';
import { ownPart } from './point-source.ts';
import type { CorpusPoints } from './vectors/corpus-vectors.ts';

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
  const free = withoutGrad(() => dictionaryOf(symbols, { starts, cutoffs }));
  const travelled = countedWalks(texts(), free, options, replicas).travelled(options.texts);
  const links = withoutGrad(() => inferLinks(travelled, options)).keep();
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
    withoutGrad(() => {
      const { walks } = joinPassages({ points, passages: each }, dictionary, pursuitOn(options));
      counts.add(walks.contiguous().toNumbers());
    });
    points.free();
  }
  counts.share(replicas);
  return counts;
}
