import type { PeriodLength } from '@hidden-schema/studies';
import type { Command } from 'commander';
import {
  type AnalysisFlags,
  addAnalysisOptions,
  deliver,
  encodedOf,
  limitHelp,
  withAnalysed,
} from './analysis.ts';

interface TimeFlags extends AnalysisFlags {
  timeColumn?: string;
  period?: string;
}

const examples = `
Examples:
  $ hsn train --corpus speeches.csv --time-column year --stage discover --out run && hsn time run
  $ hsn time run --time-column year        of a run that was not told of dates
  $ hsn time run --period decade --json

Shares of texts on each symbol and link over time, with Wilson intervals; bursts after Kleinberg (2003): periods in which
twice the usual share explains the counts better. Dates are years, decades (1860s), ISO dates with or without a time,
4.3.1861, 3/4/1861, 4 March 1861, March 1861, 1861-Q1, or seconds since 1970; an empty cell is no date.
`;

export function register(program: Command): void {
  addAnalysisOptions(
    program
      .command('time')
      .summary('symbols and links over time, with bursts')
      .description('Show how the shares of symbols and links change over time, and name bursts.')
      .argument('<run>', 'run folder of texts with dates'),
  )
    .option('--time-column <name>', 'column with the dates (default: the one named in training)')
    .option(
      '--period <length>',
      'day, week, month, quarter, year, lustrum, decade, … (default: by how much there is)',
    )
    .option('--limit <n>', limitHelp)
    .addHelpText('after', examples)
    .action(time);
}

async function time(directory: string, flags: TimeFlags): Promise<void> {
  const { textTimes } = await import('@hidden-schema/studies/analysis/text-columns');
  const { studyTime } = await import('@hidden-schema/studies/comparison/time');
  const { storedMeanings } = await import('@hidden-schema/studies/analysis/stored-meanings');
  const { symbolNames, symbolTitle } = await import('@hidden-schema/studies/analysis/names');
  const { burstSheet, timeTables, timeFigureOf } = await import(
    '@hidden-schema/studies/comparison/time-sheets'
  );
  const period = await periodOf(flags.period);
  await withAnalysed(directory, flags, async (run, signal) => {
    const encoded = await encodedOf(run, flags, signal);
    try {
      const asked = { ...(flags.timeColumn === undefined ? {} : { column: flags.timeColumn }), signal };
      const { column, times } = await textTimes(run, encoded, asked);
      const { walks, symbols, length } = encoded;
      const study = studyTime({ walks, symbols, length, times }, period ? { period } : {});
      await storedMeanings(run, { encoded, signal });
      const names = symbolNames(run.run);
      const title = (symbol: number) => symbolTitle(symbol, names);
      const bursts = burstSheet(study, title);
      await deliver(directory, flags, {
        name: 'time',
        data: { column, ...study },
        sheets: [bursts, ...timeTables(study, title)],
        shown: [bursts],
        figures: [timeFigureOf(study, 'symbols', title), timeFigureOf(study, 'links', title)],
      });
    } finally {
      encoded.close();
    }
  });
}

async function periodOf(asked: string | undefined): Promise<PeriodLength | undefined> {
  if (asked === undefined) return undefined;
  const { UserError } = await import('@hidden-schema/base');
  const { PERIODS } = await import('@hidden-schema/studies/comparison/periods');
  const found = PERIODS.find((length) => length === asked);
  if (!found) throw new UserError(`--period takes one of ${PERIODS.join(', ')}, got ${asked}`);
  return found;
}
