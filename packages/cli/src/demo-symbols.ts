import { columnsOf, type Sheet, wordCell } from '@hidden-schema/studies/drawing/sheets';
import type { SymbolMeaning } from '@hidden-schema/studies/symbols/meaning';
import type { SymbolYears } from '@hidden-schema/studies/symbols/symbol-years';

type Years = readonly (SymbolYears | undefined)[];
const shown = 12;
const mostWords = 7;
/** So few passages say nothing of a time. */
const fewestTexts = 5;

/** A dozen symbols through the years; where no years are known, the most used. */
export function symbolTable(meanings: readonly SymbolMeaning[], years: Years): Sheet {
  const dated = meanings.filter(({ symbol }) => (years[symbol]?.texts ?? 0) >= fewestTexts);
  return dated.length > 0 ? datedTable(dated, years) : usedTable(meanings);
}

/** In their order by middle years, of every few symbols the one whose passages lie closest together. */
function throughTheYears(meanings: readonly SymbolMeaning[], years: Years): SymbolMeaning[] {
  const spanOf = ({ symbol }: SymbolMeaning) => years[symbol]!.quartiles[1] - years[symbol]!.quartiles[0];
  const ordered = meanings.toSorted((a, b) => years[a.symbol]!.middle - years[b.symbol]!.middle);
  const few = Math.max(1, ordered.length / shown);
  return Array.from({ length: Math.min(shown, ordered.length) }, (_, at) =>
    ordered
      .slice(Math.round(at * few), Math.round((at + 1) * few))
      .reduce((best, one) => (spanOf(one) < spanOf(best) ? one : best)),
  );
}

function datedTable(meanings: readonly SymbolMeaning[], years: Years): Sheet {
  const rows = throughTheYears(meanings, years).map((one) => {
    const { middle, quartiles, texts } = years[one.symbol]!;
    return [
      one.symbol,
      Math.round(middle),
      quartiles.map(Math.round).join('–'),
      texts,
      wordCell(one.words, mostWords),
    ];
  });
  return {
    name: 'symbol-years',
    title: `${rows.length} symbols through the years`,
    caption:
      'By the passages in which a symbol comes first: their middle year, the years of the middle half of them, how many they are, and what its passages say more than others.',
    columns: columnsOf({ symbol: 'left', middle: null, 'half of them': 'left', passages: null, words: null }),
    rows,
  };
}

function usedTable(meanings: readonly SymbolMeaning[]): Sheet {
  const used = meanings.toSorted((a, b) => b.usage - a.usage || a.symbol - b.symbol).slice(0, shown);
  return {
    name: 'symbols-used',
    title: `The ${used.length} symbols used most`,
    columns: columnsOf({ symbol: 'left', texts: null, label: null, words: null }),
    rows: used.map((one) => [
      one.symbol,
      one.sentences,
      one.labels[0]?.label,
      wordCell(one.words, mostWords),
    ]),
  };
}
