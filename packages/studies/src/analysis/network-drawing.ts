import { LIKELY_LINK, linkProbabilities, type OpenedRun } from '@hidden-schema/hsn';
import { layoutGraph } from '../evaluation/layout.ts';
import { networkFigure } from '../evaluation/network-figure.ts';
import { namesFromWords } from '../measures/symbol-names.ts';
import type { EncodedCorpus } from './encoded.ts';
import type { NamedFigure } from './figures.ts';
import { linksOf } from './layout.ts';
import type { SymbolMeaning } from './meaning.ts';
import type { SymbolYears } from './symbol-years.ts';

/** All links of a large graph are a ball of wool: of each symbol these are drawn. */
const linksOfSymbol = 3;

export interface NetworkDrawing {
  title: string;
  encoded: EncodedCorpus;
  meanings: readonly SymbolMeaning[];
  years?: readonly (SymbolYears | undefined)[];
}

type Walks = Pick<EncodedCorpus, 'walks' | 'symbols' | 'length'>;
type WalkedLink = readonly [i: number, j: number, strength: number];

/** A run's graph as one large picture with names, coloured by the middle of the years where they are known. */
export function drawNetwork(
  run: OpenedRun,
  { title, encoded, meanings, years = [] }: NetworkDrawing,
): NamedFigure {
  const found = linksOf(linkProbabilities(run.model), run.symbols, LIKELY_LINK).filter(([i, j]) => i !== j);
  const links = mostWalked(found, encoded, linksOfSymbol);
  const names = namesFromWords(meanings.map(({ words }) => words));
  const dated = years.some((of) => of !== undefined);
  const svg = networkFigure({
    title,
    subtitle: `${run.symbols} symbols and ${found.length} links found in the texts; drawn are the ${linksOfSymbol} strongest of each symbol`,
    symbols: meanings.map(({ symbol, name, usage }) => ({
      name: name ?? names[symbol]!,
      usage,
      value: years[symbol]?.middle,
    })),
    // Not the run's stored one: links that are left out would pull here without being seen.
    layout: layoutGraph(run.symbols, links),
    links,
    ...(dated ? { legend: 'middle of the years in which a symbol comes first' } : {}),
  });
  return { name: 'network', title, svg };
}

/**
 * Of each symbol the few links that walks take most, i < j, with how much of the two symbols' moves goes along them,
 * from 0 to 1 for the strongest.
 */
export function mostWalked(
  links: readonly (readonly [i: number, j: number, probability: number])[],
  encoded: Walks,
  ofEach: number,
): WalkedLink[] {
  const { between, of } = countMoves(encoded);
  const K = encoded.symbols;
  const walked = links
    .map(([i, j]) => ({ i, j, moves: between[i * K + j]! }))
    .filter(({ moves }) => moves > 0)
    .map((link) => ({ ...link, strength: link.moves / Math.sqrt(of[link.i]! * of[link.j]!) }));
  const kept = new Set<(typeof walked)[number]>();
  for (let symbol = 0; symbol < K; symbol++) {
    const own = walked.filter(({ i, j }) => i === symbol || j === symbol);
    for (const link of own.sort((a, b) => b.strength - a.strength).slice(0, ofEach)) kept.add(link);
  }
  const most = Math.max(...[...kept].map(({ strength }) => strength));
  return [...kept].map(({ i, j, strength }) => [i, j, strength / most]);
}

/** Moves between two symbols, either way [K, K], and all moves of each symbol [K]. */
function countMoves({ walks, symbols: K, length: L }: Walks): { between: Float64Array; of: Float64Array } {
  const between = new Float64Array(K * K);
  const of = new Float64Array(K);
  for (let at = 0; at + 1 < walks.length; at++) {
    const [i, j] = [walks[at]!, walks[at + 1]!];
    // The last step of a walk is followed by another text.
    if (at % L === L - 1 || i === j) continue;
    between[i * K + j]! += 1;
    between[j * K + i]! += 1;
    of[i]! += 1;
    of[j]! += 1;
  }
  return { between, of };
}
