import type { OpenedRun } from '@hidden-schema/hsn/open';
import type { Sheet, SymbolMeaning } from '@hidden-schema/studies';
import type { Command } from 'commander';
import {
  type AnalysisFlags,
  addAnalysisOptions,
  deliver,
  encodedOf,
  limitHelp,
  progressOf,
  withAnalysed,
} from './analysis.ts';
import { print } from './terminal.ts';

const examples = `
Examples:
  $ hsn symbols run                all symbols with their words
  $ hsn symbols run 17             one of them: words, sentences, labels, neighbours, usage
  $ hsn symbols run "oil prices"   the same by its name
  $ hsn symbols run 17 --json
  $ hsn symbols run --levels 5,10,20   the same symbols merged into 5, 10 and 20 groups, as a tree
  $ hsn rename run 17 "complaints" a name of your own, shown everywhere
  $ hsn merge run 3 17             two symbols as one; hsn split run 8, hsn undo run

Words are ranked by pointwise mutual information with the symbol in a sentence, and by the attention that the decoder
pays to the symbol when it generates them. --levels joins symbols by their vectors and links, without training and without
changing the run; symbols that you named stay apart for as long as a level has enough groups. What is found is stored in the run (analysis/), so that it is quick again.
`;

export function register(program: Command): void {
  addAnalysisOptions(
    program
      .command('symbols')
      .summary('what symbols mean: words, sentences, labels, neighbours')
      .description('What the symbols of a run mean.')
      .argument('<run>', 'run folder')
      .argument('[symbol]', 'one symbol, by number or name'),
  )
    .option('--limit <n>', limitHelp)
    .option('--levels <counts>', 'merge symbols into so many groups, one or more levels: 5,10,20')
    .addHelpText('after', examples)
    .action(symbols);
}

interface SymbolFlags extends AnalysisFlags {
  levels?: string;
}

async function symbols(directory: string, named: string | undefined, flags: SymbolFlags): Promise<void> {
  const { symbolNamed, titleOf } = await import('@hidden-schema/studies/analysis/names');
  const { storedMeanings } = await import('@hidden-schema/studies/analysis/stored-meanings');
  const { symbolSheet } = await import('@hidden-schema/studies/analysis/sheets');
  const { withoutStays } = await import('@hidden-schema/studies/measures/step-weights');
  const { UserError } = await import('@hidden-schema/base');
  if (named !== undefined && flags.levels !== undefined)
    throw new UserError('--levels is about all symbols; leave out the number of one');
  await withAnalysed(directory, flags, async (run, signal) => {
    const symbol = named === undefined ? undefined : symbolNamed(named, directory, run.symbols);
    const encoded = await encodedOf(run, flags, signal);
    try {
      const { onProgress, done } = await progressOf('attention', 'sentences');
      const meanings = await storedMeanings(run, { encoded, signal, onProgress });
      done();
      if (flags.levels !== undefined) return showLevels(run, meanings, flags.levels, flags);
      if (symbol === undefined)
        return deliver(directory, flags, {
          name: 'symbols',
          data: meanings,
          sheets: [symbolSheet(meanings)],
        });
      const [data, name] = [meanings[symbol]!, `symbol-${symbol}`];
      return deliver(directory, flags, {
        name,
        data,
        sheets: sheetsOf(data, { withoutStays, titleOf }),
      });
    } finally {
      encoded.close();
    }
  });
}

/** Symbols joined to fewer and fewer groups, of the counts given with commas between. */
async function showLevels(
  run: OpenedRun,
  meanings: SymbolMeaning[],
  counts: string,
  flags: SymbolFlags,
): Promise<void> {
  const { levelSheets, levelsText, symbolLevels } = await import('@hidden-schema/studies/analysis/levels');
  const groups = counts.split(',').map((count) => (count.trim() === '' ? Number.NaN : Number(count)));
  const data = await symbolLevels(run, groups, { meanings });
  if (!flags.json) print(`${levelsText(data, meanings)}\n`);
  return deliver(run.run.directory, flags, { name: 'levels', data, sheets: levelSheets(data), shown: [] });
}

/** A sheet before it has the symbol's name. */
type Part = Pick<Sheet, 'name' | 'title' | 'columns' | 'rows'>;

/** Everything about one symbol. */
function sheetsOf(one: SymbolMeaning, shown: Shown): Sheet[] {
  const called = one.name === null ? `Symbol ${one.symbol}` : `Symbol ${one.symbol}, ${one.name}`;
  const said = one.description === undefined ? '' : ` (${one.description})`;
  return [...wordParts(one), ...walkParts(one, shown)]
    .filter(({ rows }) => rows.length > 0)
    .map(({ name, title, ...table }) => ({
      name: `symbol-${one.symbol}-${name}`,
      title: name === 'usage' ? `${called}${said}: ${title}` : `${called}: ${title}`,
      ...table,
    }));
}

function wordParts(one: SymbolMeaning): Part[] {
  return [
    {
      name: 'usage',
      title: `in ${one.sentences} sentences, ${(100 * one.usage).toFixed(1)} % of what walks say; by step`,
      columns: one.usageByPosition.map((_, i) => ({ title: `step ${i + 1}`, digits: 3 })),
      rows: [one.usageByPosition],
    },
    {
      name: 'words',
      title: 'words by mutual information',
      columns: [{ title: 'word' }, { title: 'bits', digits: 2 }, { title: 'sentences' }],
      rows: one.words.map(({ word, pmi, count }) => [word, pmi, count]),
    },
    {
      name: 'attended',
      title: 'words that attend to it',
      columns: [{ title: 'word' }, { title: 'share', digits: 3 }, { title: 'times' }],
      rows: one.attended.map(({ word, share, count }) => [word, share, count]),
    },
    {
      name: 'labels',
      title: 'labels',
      columns: [{ title: 'label' }, { title: 'share', digits: 3 }, { title: 'lift', digits: 2 }],
      rows: one.labels.map(({ label, share, lift }) => [label, share, lift]),
    },
  ];
}

interface Shown {
  withoutStays: (walk: readonly number[]) => number[];
  titleOf: (symbol: number, name: string | null) => string;
}

function walkParts(one: SymbolMeaning, { withoutStays, titleOf }: Shown): Part[] {
  return [
    {
      name: 'neighbours',
      title: 'neighbours',
      columns: [
        { title: 'symbol', align: 'left' },
        { title: 'texts' },
        { title: 'times chance', digits: 1 },
        { title: 'from', digits: 1 },
        { title: 'to', digits: 1 },
        { title: 'probability', digits: 3 },
      ],
      rows: one.neighbours.map(({ symbol, name, probability, flow, lift, interval }) => [
        titleOf(symbol, name),
        ...[flow, lift, ...interval, probability],
      ]),
    },
    {
      name: 'sentences',
      title: 'representative sentences',
      columns: [{ title: 'label' }, { title: 'walk' }, { title: 'sentence' }],
      rows: one.examples.map(({ label, walk, text }) => [
        label ?? undefined,
        withoutStays(walk).join(' '),
        text,
      ]),
    },
  ];
}
