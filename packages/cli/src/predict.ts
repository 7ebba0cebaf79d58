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

interface PredictFlags extends AnalysisFlags {
  by: string;
}

const examples = `
Examples:
  $ hsn predict run                    which symbols and links predict the label
  $ hsn predict run --by party         or another column of the corpus' table
  $ hsn predict run --json

A ridge-penalised logistic regression reads labels off the symbols that walks visit and the links they take. Accuracy is
that on folds it has not seen, beside always telling the most frequent label, with McNemar's exact test; coefficients are
log-odds of a label against all others, the other features held, with intervals of 95 % by Laplace's method. All offline.
`;

export function register(program: Command): void {
  addAnalysisOptions(
    program
      .command('predict')
      .summary('which symbols and links predict the label, and how well')
      .description('Predict the labels of unseen texts from walks, and tell what predicts them.')
      .argument('<run>', 'run folder'),
  )
    .option('--by <column>', "label, or a column of the corpus' table", 'label')
    .option('--limit <n>', limitHelp)
    .addHelpText('after', examples)
    .action(predict);
}

async function predict(directory: string, flags: PredictFlags): Promise<void> {
  const studies = await import('@hidden-schema/studies');
  await withAnalysed(directory, flags, async (run, signal) => {
    const encoded = await encodedOf(run, flags, signal);
    const { onProgress, done } = await progressOf('predict', 'fits');
    try {
      const walks = await studies.walksBy(run, encoded, { column: flags.by, signal });
      const prediction = studies.predictLabels(walks, { onProgress });
      done();
      await studies.storedMeanings(run, { encoded, signal });
      const names = studies.symbolNames(run.run);
      const title = (symbol: number) => studies.symbolTitle(symbol, names);
      const all = studies.predictionSheets(prediction, title);
      const shown = studies.predictionSheets(prediction, title, { largest: true });
      await deliver(directory, flags, {
        name: 'predict',
        data: { by: flags.by, ...prediction },
        sheets: [...all, studies.predictionTable(prediction, title)],
        shown,
        text: studies.predictionText(prediction),
        figures: prediction.coefficients.length > 0 ? [studies.predictionFigure(prediction, title)] : [],
      });
    } finally {
      done();
      encoded.close();
    }
  });
}
