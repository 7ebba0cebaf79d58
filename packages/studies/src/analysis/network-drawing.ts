import { LIKELY_LINK, linkProbabilities, type OpenedRun } from '@hidden-schema/hsn';
import { networkFigure } from '../drawing/network-figure.ts';
import { layoutGraph } from '../evaluation/layout.ts';
import { type LinkStrength, linkStrengths, strongestLinks } from '../measures/link-strength.ts';
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

type WalksOf = { walks: ArrayLike<number>; symbols: number; length: number };
type DrawnLink = readonly [i: number, j: number, strength: number];

/** A run's graph as one large picture with names, coloured by the middle of the years where they are known. */
export function drawNetwork(
  run: OpenedRun,
  { title, encoded, meanings, years = [] }: NetworkDrawing,
): NamedFigure {
  const found = linksOf(linkProbabilities(run.model), run.symbols, LIKELY_LINK);
  const links = drawnLinks(encoded, linksOfSymbol);
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

/** A network by the walks of texts: every link with its strength, and a layout by those that are drawn. */
export function walkedNetwork(
  encoded: WalksOf,
  links: readonly (readonly [number, number, number])[],
): { strengths: LinkStrength[]; layout: Float64Array } {
  const drawn = drawnLinks(encoded, linksOfSymbol);
  // Walks of a run that has learnt little go by chance: then the graph's own links are drawn.
  const layout = layoutGraph(encoded.symbols, drawn.length > 0 ? drawn : links);
  return { strengths: linkStrengths(encoded), layout };
}

/** Of each symbol its few strongest links, i < j, with log lift from 0 for chance to 1 for the strongest. */
export function drawnLinks(encoded: WalksOf, ofEach: number): DrawnLink[] {
  const kept = strongestLinks(linkStrengths(encoded), ofEach);
  const most = Math.log(kept[0]?.interval[0] ?? 2);
  return kept.map(({ i, j, interval }) => [i, j, Math.log(interval[0]) / most]);
}
