import path from 'node:path';
import type { Command } from 'commander';
import { limitHelp, withAnalysed } from './analysis.ts';
import { print, say } from './terminal.ts';
import { wholeNumber } from './text-flags.ts';

interface ReportFlags {
  out?: string;
  words?: string;
  limit?: string;
  samples?: string;
  checkpoint: string;
}

const examples = `
Examples:
  $ hsn report run                         RUN/report.html
  $ hsn report run --words good,bad,great --out report.html

One page with everything: training, graph, labels, symbols, sentences, attention, interpolation. It loads nothing and runs
nothing, so it can be sent as it is. The model card, MODEL.md in the run, is written anew too.
`;

export function register(program: Command): void {
  program
    .command('report')
    .summary('all tables and figures of a run as one page')
    .description('Write one self-contained HTML page about a run, and its model card.')
    .argument('<run>', 'run folder')
    .option('--out <file>', 'where to write (default: report.html in the run)')
    .option('--words <list>', 'texts: words of the attention study, with commas between')
    .option('--limit <n>', limitHelp)
    .option('--samples <n>', 'graphs drawn for statistics (default: 500, fewer for many symbols)')
    .option('--checkpoint <which>', 'best, last, or a step', 'best')
    .addHelpText('after', examples)
    .action(report);
}

async function report(directory: string, flags: ReportFlags): Promise<void> {
  const { writeTextAtomic } = await import('@hidden-schema/base');
  const { runReport, writeModelCard } = await import('@hidden-schema/studies');
  const limit = await wholeNumber('--limit', flags.limit);
  const samples = await wholeNumber('--samples', flags.samples);
  await withAnalysed(directory, flags, async (run, signal) => {
    const page = await runReport(run, {
      signal,
      ...(limit === undefined ? {} : { limit }),
      ...(samples === undefined ? {} : { samples }),
      ...(flags.words === undefined ? {} : { words: flags.words.split(',') }),
      onStage: (what) => say(`report: ${what}\n`),
    });
    const file = flags.out ?? path.join(directory, 'report.html');
    writeTextAtomic(file, page);
    print(`report: ${file}\nmodel card: ${writeModelCard(directory)}\n`);
  });
}
