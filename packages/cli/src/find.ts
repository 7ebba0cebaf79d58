import type { Found, FoundText, Sheet } from '@hidden-schema/studies';
import type { Command } from 'commander';
import { type AnalysisFlags, encodedOf, limitHelp, showSheets, withAnalysed } from './analysis.ts';
import { print } from './terminal.ts';
import { wholeNumber } from './text-flags.ts';

interface FindFlags extends Pick<AnalysisFlags, 'checkpoint' | 'json' | 'limit'> {
  top: string;
}

const examples = `
Examples:
  $ hsn find run "late delivery"
  $ hsn find run "war in the Pacific" --top 10
  $ hsn find run "late delivery" --json | jq .sentences

Symbols and sentences are near by the cosine in the space that both are vectors in (docs/research/discovery.md); walks are near by
the steps at which they are on the same symbol as the phrase's own walk, then by symbols in common.
`;

export function register(program: Command): void {
  program
    .command('find')
    .summary('symbols, walks and sentences near a phrase')
    .description('Find the symbols, walks and sentences of a run that are nearest to a phrase.')
    .argument('<run>', 'run folder')
    .argument('<phrase...>', 'what to look for: a word, a phrase or a text')
    .option('--top <n>', 'how many of each', '5')
    .option('--json', 'print JSON')
    .option('--limit <n>', limitHelp)
    .option('--checkpoint <which>', 'best, last, or a step', 'best')
    .addHelpText('after', examples)
    .action(find);
}

async function find(directory: string, words: string[], flags: FindFlags): Promise<void> {
  const phrase = words.join(' ');
  const { UserError } = await import('@hidden-schema/base');
  const { plainJson } = await import('@hidden-schema/studies/analysis/results');
  const { storedMeanings } = await import('@hidden-schema/studies/analysis/stored-meanings');
  const { TextFinder } = await import('@hidden-schema/studies/analysis/find');
  const { titleOf } = await import('@hidden-schema/studies/analysis/names');
  const { withoutStays } = await import('@hidden-schema/studies/measures/step-weights');
  const top = (await wholeNumber('--top', flags.top))!;
  if (phrase.trim() === '')
    throw new UserError('the phrase to look for is empty; name some words, such as "late delivery"');
  await withAnalysed(directory, flags, async (run, signal) => {
    const encoded = await encodedOf(run, flags, signal);
    const finder = await TextFinder.open(run, encoded, signal);
    try {
      const found = await finder.find(phrase, { top });
      const meanings = await storedMeanings(run, { encoded, signal });
      const named = found.symbols.map((one) => {
        const { name, words } = meanings[one.symbol]!;
        return { ...one, name, words: words.slice(0, 6).map(({ word }) => word) };
      });
      if (flags.json) return print(plainJson({ ...found, symbols: named }));
      const title = (symbol: number) => titleOf(symbol, meanings[symbol]!.name);
      return showSheets(sheetsOf({ ...found, symbols: named }, { title, withoutStays }));
    } finally {
      finder.free();
      encoded.close();
    }
  });
}

type Named = Omit<Found, 'symbols'> & {
  symbols: (Found['symbols'][number] & { name: string | null; words: string[] })[];
};

interface Showing {
  title: (symbol: number) => string;
  withoutStays: (walk: readonly number[]) => number[];
}

function sheetsOf(found: Named, { title, withoutStays }: Showing): Sheet[] {
  const { phrase, walk, probabilities, symbols, walks, sentences } = found;
  const near = (name: string, heading: string, texts: readonly FoundText[]): Sheet => ({
    name,
    title: heading,
    columns: [
      { title: 'close', digits: 2 },
      { title: 'same steps' },
      { title: 'label' },
      { title: 'walk' },
      { title: 'sentence' },
    ],
    rows: texts.map(({ closeness, shared, label, walk: own, text }) => [
      ...[closeness ?? undefined, shared, label ?? undefined, withoutStays(own).join(' '), text],
    ]),
  });
  return [
    {
      name: 'find-walk',
      title: `The walk of "${phrase}"`,
      columns: [
        { title: 'step', align: 'left' as const },
        { title: 'symbol' },
        { title: 'probability', digits: 2 },
      ],
      rows: withoutStays(walk).map((symbol, i) => [i + 1, title(symbol), probabilities[i]!]),
    },
    {
      name: 'find-symbols',
      title: 'Nearest symbols',
      columns: [{ title: 'close', digits: 2 }, { title: 'symbol' }, { title: 'words' }],
      rows: symbols.map(({ symbol, closeness, words }) => [
        ...[closeness ?? undefined, title(symbol), words.join(' ') || undefined],
      ]),
    },
    near('find-walks', 'Nearest walks', walks),
    near('find-sentences', 'Nearest sentences', sentences),
  ].filter(({ rows }) => rows.length > 0);
}
