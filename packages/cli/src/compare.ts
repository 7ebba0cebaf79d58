import type { Command } from 'commander';
import {
  type AnalysisFlags,
  addAnalysisOptions,
  deliver,
  encodedOf,
  limitHelp,
  withAnalysed,
} from './analysis.ts';

interface CompareFlags extends AnalysisFlags {
  by: string;
  groups?: string;
}

const examples = `
Examples:
  $ hsn compare run                              by label: each label beside all others
  $ hsn compare run --by party                   by another column of the corpus' table
  $ hsn compare run --by party --groups Democratic,Republican
  $ hsn compare run --json --out figures

Which symbols and links one group of texts has more of: the share of its texts whose walk has them, with Wilson intervals,
Fisher's exact test corrected after Benjamini and Hochberg, and Cohen's h (0.2 is small, 0.5 middling, 0.8 large). Shown is
what a group has more of at a corrected p below 0.05; the CSV files and --json hold every test.
`;

export function register(program: Command): void {
  addAnalysisOptions(
    program
      .command('compare')
      .summary('what one group of texts has more of than others')
      .description('Compare groups of texts by the symbols and links of their walks.')
      .argument('<run>', 'run folder'),
  )
    .option('--by <column>', "label, or a column of the corpus' table", 'label')
    .option('--groups <A,B>', 'two groups to compare with each other (default: each with all others)')
    .option('--limit <n>', limitHelp)
    .addHelpText('after', examples)
    .action(compare);
}

async function compare(directory: string, flags: CompareFlags): Promise<void> {
  const { walksBy } = await import('@hidden-schema/studies/analysis/text-columns');
  const { compareGroups } = await import('@hidden-schema/studies/comparison/groups');
  const { storedMeanings } = await import('@hidden-schema/studies/analysis/stored-meanings');
  const { symbolNames, symbolTitle } = await import('@hidden-schema/studies/analysis/names');
  const { comparisonSheets, comparisonTables, comparisonText, comparisonFigure } = await import(
    '@hidden-schema/studies/comparison/group-sheets'
  );
  const pair = await pairOf(flags.groups);
  await withAnalysed(directory, flags, async (run, signal) => {
    const encoded = await encodedOf(run, flags, signal);
    try {
      const walks = await walksBy(run, encoded, { column: flags.by, signal });
      const comparison = compareGroups(walks, pair ? { pair } : {});
      await storedMeanings(run, { encoded, signal });
      const names = symbolNames(run.run);
      const title = (symbol: number) => symbolTitle(symbol, names);
      const shown = comparisonSheets(comparison, title);
      await deliver(directory, flags, {
        name: 'compare',
        data: { by: flags.by, ...comparison },
        sheets: [...shown, ...comparisonTables(comparison, title)],
        shown: shown.filter(({ rows }) => rows.length > 0),
        text: comparisonText(comparison),
        figures: shown[0]!.rows.length > 0 ? [comparisonFigure(comparison, title, flags.by)] : [],
      });
    } finally {
      encoded.close();
    }
  });
}

async function pairOf(groups: string | undefined): Promise<readonly [string, string] | undefined> {
  if (groups === undefined) return undefined;
  const { UserError } = await import('@hidden-schema/base');
  const named = groups.split(',').map((name) => name.trim());
  if (named.length === 2 && named.every((name) => name !== '')) return named as [string, string];
  throw new UserError(`--groups takes two groups with a comma between, got ${groups}`);
}
