import { LIKELY_LINK, linkProbabilities } from '@hidden-schema/hsn/graph/likely';
import type { OpenedRun } from '@hidden-schema/hsn/open';
import { layoutGraph } from '../drawing/force-layout.ts';
import { mapFigure } from '../drawing/map-figure.ts';
import { networkFigure } from '../drawing/network-figure.ts';
import type { NamedFigure } from '../drawing/results.ts';
import { css, symbolTones } from '../drawing/symbol-colours.ts';
import { communitiesOf } from '../measures/communities.ts';
import { type LinkStrength, linkStrengths, scaledLinks } from '../measures/link-strength.ts';
import { nameSymbols } from '../measures/symbol-names.ts';
import { linksOf } from '../symbols/layout.ts';
import type { SymbolMeaning } from '../symbols/meaning.ts';
import type { SymbolYears } from '../symbols/symbol-years.ts';
import type { EncodedCorpus } from '../texts/encoded.ts';
import { textMap } from './text-map.ts';

/** All links of a large graph are a ball of wool: of each symbol these are drawn. */
const linksOfSymbol = 3;

export interface NetworkDrawing {
  title: string;
  encoded: EncodedCorpus;
  meanings: readonly SymbolMeaning[];
  years?: readonly (SymbolYears | undefined)[];
}

type WalksOf = { walks: ArrayLike<number>; symbols: number; length: number };

/** A run's graph as one large picture with names, coloured by the middle of the years where they are known. */
export function drawNetwork(
  run: OpenedRun,
  { title, encoded, meanings, years = [] }: NetworkDrawing,
): NamedFigure {
  const found = linksOf(linkProbabilities(run.model), run.symbols, LIKELY_LINK);
  const links = drawnLinks(encoded);
  const names = namesOf(meanings);
  const dated = years.some((of) => of !== undefined);
  const svg = networkFigure({
    title,
    subtitle: `${run.symbols} symbols and ${found.length} links found in the texts; drawn are the ${linksOfSymbol} strongest of each symbol`,
    symbols: meanings.map(({ symbol, name, usage }) => {
      return { name: name ?? names[symbol]!, usage, value: years[symbol]?.middle };
    }),
    // Not the run's stored one: links that are left out would pull here without being seen.
    layout: layoutGraph(run.symbols, links),
    links,
    ...(dated ? { legend: 'middle of the years in which a symbol comes first' } : {}),
  });
  return { name: 'network', title, svg };
}

/** Names by words alone, for symbols that have none yet. */
const namesOf = (meanings: readonly SymbolMeaning[]): string[] =>
  nameSymbols(meanings.map(({ words }) => words.map(({ word }) => word)));

/** Texts that the picture of a map has; more make it no clearer. */
const MOST_DOTS = 8000;
/** Places of a text map are whole numbers up to this. */
const FINEST = 65_535;
/** Links that make communities are at least so probable. */
const LEAST_PROBABILITY = 0.01;

/** The network on the map of texts as one picture: the explorer's first view, to print and to send. */
export function drawTextMap(
  run: OpenedRun,
  encoded: EncodedCorpus,
  meanings: readonly SymbolMeaning[],
): string {
  const places = Float64Array.from(textMap(run, encoded), (place) => place / FINEST);
  const { walks, symbols, length } = encoded;
  const probable = linksOf(linkProbabilities(run.model), symbols, LEAST_PROBABILITY);
  const usage = meanings.map((one) => one.usage);
  const tones = symbolTones(communitiesOf(probable, usage)).map(css);
  const names = namesOf(meanings);
  return mapFigure(
    { walks, length, symbols, places },
    {
      ...{ bare: true, title: 'The network of themes on the map of texts', subtitle: '' },
      symbols: meanings.map(({ symbol, name, usage: size }) => ({
        ...{ name: name ?? names[symbol]!, usage: size, colour: tones[symbol]! },
      })),
      links: drawnLinks(encoded),
      every: Math.max(1, Math.ceil(encoded.count / MOST_DOTS)),
    },
  );
}

/** A network by the walks of texts: every link with its strength, and a layout by those that are drawn. */
export function walkedNetwork(
  encoded: WalksOf,
  links: readonly (readonly [number, number, number])[],
): { strengths: LinkStrength[]; layout: Float64Array } {
  const drawn = drawnLinks(encoded);
  // Walks of a run that has learnt little go by chance: then the graph's own links are drawn.
  const layout = layoutGraph(encoded.symbols, drawn.length > 0 ? drawn : links);
  return { strengths: linkStrengths(encoded), layout };
}

/** Of each symbol its few strongest links, i < j, with log lift from 0 for chance to 1 for the strongest. */
const drawnLinks = (encoded: WalksOf) => scaledLinks(linkStrengths(encoded), linksOfSymbol);
