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

const examples = `
Examples:
  $ hsn symbols run                all symbols with their words
  $ hsn symbols run 17             one of them: words, sentences, labels, neighbours, usage
  $ hsn symbols run 17 --json
  $ hsn rename run 17 "complaints" a name of your own, shown everywhere

Words are ranked by pointwise mutual information with the symbol in a sentence, and by the attention that the decoder
pays to the symbol when it generates them. What is found is stored in the run (analysis/), so that it is quick again.
`;

export function register(program: Command): void {
  addAnalysisOptions(
    program
      .command('symbols')
      .summary('what symbols mean: words, sentences, labels, neighbours')
      .description('What the symbols of a run mean.')
      .argument('<run>', 'run folder')
      .argument('[symbol]', 'one symbol, by number'),
  )
    .option('--limit <n>', limitHelp)
    .addHelpText('after', examples)
    .action(symbols);
}

async function symbols(directory: string, given: string | undefined, flags: AnalysisFlags): Promise<void> {
  const studies = await import('@hidden-schema/studies');
  await withAnalysed(directory, flags, async (run, signal) => {
    const symbol = given === undefined ? undefined : studies.symbolNumber(given, run.symbols);
    const encoded = await encodedOf(run, flags, signal);
    try {
      const { onProgress, done } = await progressOf('attention', 'sentences');
      const meanings = await studies.storedMeanings(run, { encoded, signal, onProgress });
      done();
      if (symbol === undefined)
        return deliver(directory, flags, {
          name: 'symbols',
          data: meanings,
          sheets: [studies.symbolSheet(meanings)],
        });
      const one = meanings[symbol]!;
      return deliver(directory, flags, { name: `symbol-${symbol}`, data: one, sheets: sheetsOf(one) });
    } finally {
      encoded.close();
    }
  });
}

/** Everything about one symbol. */
function sheetsOf(one: SymbolMeaning): Sheet[] {
  const title = one.name === null ? `Symbol ${one.symbol}` : `Symbol ${one.symbol}, ${one.name}`;
  const sheet = (name: string, what: string, columns: Sheet['columns'], rows: Sheet['rows']): Sheet[] =>
    rows.length === 0
      ? []
      : [{ name: `symbol-${one.symbol}-${name}`, title: `${title}: ${what}`, columns, rows }];
  return [
    ...sheet(
      'usage',
      `in ${one.sentences} sentences, ${(100 * one.usage).toFixed(1)} % of steps; by position`,
      one.usageByPosition.map((_, i) => ({ title: `step ${i + 1}`, digits: 3 })),
      [one.usageByPosition],
    ),
    ...sheet(
      'words',
      'words by mutual information',
      [{ title: 'word' }, { title: 'bits', digits: 2 }, { title: 'sentences' }],
      one.words.map(({ word, pmi, count }) => [word, pmi, count]),
    ),
    ...sheet(
      'attended',
      'words that attend to it',
      [{ title: 'word' }, { title: 'share', digits: 3 }, { title: 'times' }],
      one.attended.map(({ word, share, count }) => [word, share, count]),
    ),
    ...sheet(
      'labels',
      'labels',
      [{ title: 'label' }, { title: 'share', digits: 3 }, { title: 'lift', digits: 2 }],
      one.labels.map(({ label, share, lift }) => [label, share, lift]),
    ),
    ...sheet(
      'neighbours',
      'neighbours',
      [
        { title: 'symbol', align: 'left' },
        { title: 'probability', digits: 3 },
        { title: 'of moves', digits: 4 },
      ],
      one.neighbours.map(({ symbol, name, probability, traversals }) => [
        name === null ? String(symbol) : `${name} (${symbol})`,
        ...[probability, traversals],
      ]),
    ),
    ...sheet(
      'sentences',
      'representative sentences',
      [{ title: 'label' }, { title: 'walk' }, { title: 'sentence' }],
      one.examples.map(({ label, walk, text }) => [label ?? undefined, walk.join(' '), text]),
    ),
  ];
}
