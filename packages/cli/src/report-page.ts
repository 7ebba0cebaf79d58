import path from 'node:path';
import type { Command } from 'commander';
import { limitHelp, withAnalysed } from './analysis.ts';
import { writeOutput } from './output-files.ts';
import { print, say } from './terminal.ts';
import { wholeNumber } from './text-flags.ts';

interface ReportFlags {
  out?: string;
  words?: string;
  limit?: string;
  samples?: string;
  texts?: string;
  checkpoint: string;
  json?: boolean;
}

const examples = `
Examples:
  $ hsn report run                         RUN/report.html
  $ hsn report run --words good,bad,great --out report.html

One page that begins in plain words: the picture, ten main themes with texts, what differs between labels, what changed over
time (where training was told of dates). Folded below: a search, all themes and texts, comparisons, graph, training,
attention, interpolation. What is open is printed. It loads nothing, and runs only its own search, so it can be sent as it is. The model card, MODEL.md in the run, is written anew too.
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
    .option(
      '--texts <n>',
      'texts that the search of the page holds (default: up to 5000, 1.2 million letters in all)',
    )
    .option('--samples <n>', 'graphs drawn for statistics (default: 500, fewer for many symbols)')
    .option('--checkpoint <which>', 'best, last, or a step', 'best')
    .option('--json', 'print JSON')
    .addHelpText('after', examples)
    .action(report);
}

async function report(directory: string, flags: ReportFlags): Promise<void> {
  const { runReport } = await import('@hidden-schema/studies/analysis/report');
  const { writeModelCard } = await import('@hidden-schema/studies/analysis/model-card');
  const limit = await wholeNumber('--limit', flags.limit);
  const texts = await wholeNumber('--texts', flags.texts);
  const samples = await wholeNumber('--samples', flags.samples);
  await withAnalysed(directory, flags, async (run, signal) => {
    const page = await runReport(run, {
      signal,
      ...(limit === undefined ? {} : { limit }),
      ...(texts === undefined ? {} : { texts }),
      ...(samples === undefined ? {} : { samples }),
      ...(flags.words === undefined ? {} : { words: flags.words.split(',') }),
      onStage: (what) => say(`report: ${what}\n`),
    });
    if (flags.out === undefined) run.run.files.target('report.html');
    const file = flags.out ?? path.join(directory, 'report.html');
    await writeOutput(file, page);
    const card = writeModelCard(directory);
    if (flags.json) print(`${JSON.stringify({ report: file, card })}\n`);
    else print(`report: ${file}\nmodel card: ${card}\n`);
  });
}
