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

interface AttendFlags extends AnalysisFlags {
  words: string;
}

const examples = `
Examples:
  $ hsn attend run --words good,bad,great
  $ hsn attend run --words good,bad --limit 20000 --json

The paper's appendix "Which symbols do words attend to?": for each word the distribution of the symbol that the decoder
attends to most when it generates the word, for each layer and head; KL between words for each head, averaged over the
heads of a layer. A word of several tokens takes their mean attention; capital letters do not matter.
`;

export function register(program: Command): void {
  addAnalysisOptions(
    program
      .command('attend')
      .summary('which symbols words attend to')
      .description(
        "Distributions of the most attended symbol, and how far words differ (the paper's appendix G).",
      )
      .argument('<run>', 'run folder of a language model'),
  )
    .requiredOption('--words <list>', 'words with commas between, two or more')
    .option('--limit <n>', limitHelp)
    .addHelpText('after', examples)
    .action(attend);
}

async function attend(directory: string, flags: AttendFlags): Promise<void> {
  const { languageRun } = await import('@hidden-schema/studies/analysis/opened');
  const { studyAttention } = await import('@hidden-schema/studies/analysis/attention');
  const { attentionSheet } = await import('@hidden-schema/studies/analysis/sheets');
  const { drawAttention } = await import('@hidden-schema/studies/analysis/figures');
  const { symbolNames } = await import('@hidden-schema/studies/analysis/names');
  await withAnalysed(directory, flags, async (opened, signal) => {
    const run = languageRun(opened, 'hsn attend');
    const encoded = await encodedOf(run, flags, signal);
    try {
      const { onProgress, done } = await progressOf('attention', 'sentences');
      const study = await studyAttention(run, encoded, flags.words.split(','), {
        signal,
        onProgress,
      });
      done();
      await deliver(directory, flags, {
        name: 'attention',
        data: study,
        sheets: [attentionSheet(study)],
        figures: drawAttention(study, symbolNames(opened.run)),
      });
    } finally {
      encoded.close();
    }
  });
}
