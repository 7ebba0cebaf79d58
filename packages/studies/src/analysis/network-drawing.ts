import type { OpenedRun } from '@hidden-schema/hsn';
import { linkProbabilities } from '@hidden-schema/hsn';
import { networkFigure } from '../evaluation/network-figure.ts';
import type { NamedFigure } from './figures.ts';
import { linksOf, runLayout } from './layout.ts';
import type { SymbolMeaning } from './meaning.ts';
import type { SymbolYears } from './symbol-years.ts';

/** Links that are drawn. */
const drawnProbability = 0.5;
const wordsOfName = 2;

/** A run's graph as one large picture with names, coloured by the middle of the years where they are known. */
export function drawNetwork(
  run: OpenedRun,
  given: {
    title: string;
    meanings: readonly SymbolMeaning[];
    years?: readonly (SymbolYears | undefined)[];
  },
): NamedFigure {
  const { title, meanings, years = [] } = given;
  const links = linksOf(linkProbabilities(run.model), run.symbols, drawnProbability).filter(
    ([i, j]) => i !== j,
  );
  const dated = years.some((of) => of !== undefined);
  const svg = networkFigure({
    title,
    subtitle: `${run.symbols} symbols and ${links.length} links found in the texts; larger circles are visited more`,
    symbols: meanings.map((one) => ({
      name: nameOf(one),
      usage: one.usage,
      value: years[one.symbol]?.middle,
    })),
    layout: runLayout(run),
    links,
    ...(dated ? { legend: 'middle of the years in which a symbol comes first' } : {}),
  });
  return { name: 'network', title, svg };
}

const nameOf = ({ symbol, name, words }: SymbolMeaning): string =>
  name ??
  (words
    .slice(0, wordsOfName)
    .map(({ word }) => word)
    .join(' ') ||
    String(symbol));
