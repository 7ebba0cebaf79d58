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
  const { walksBy } = await import('@hidden-schema/studies/analysis/text-columns');
  const { predictLabels } = await import('@hidden-schema/studies/comparison/prediction');
  const { storedMeanings } = await import('@hidden-schema/studies/analysis/stored-meanings');
  const { symbolNames, symbolTitle } = await import('@hidden-schema/studies/analysis/names');
  const { predictionSheets, predictionTable, predictionText, predictionFigure } = await import(
    '@hidden-schema/studies/comparison/prediction-sheets'
  );
  await withAnalysed(directory, flags, async (run, signal) => {
    const encoded = await encodedOf(run, flags, signal);
    const { onProgress, done } = await progressOf('predict', 'fits');
    try {
      const walks = await walksBy(run, encoded, { column: flags.by, signal });
      const prediction = predictLabels(walks, { onProgress });
      done();
      await storedMeanings(run, { encoded, signal });
      const names = symbolNames(run.run);
      const title = (symbol: number) => symbolTitle(symbol, names);
      const all = predictionSheets(prediction, title);
      const shown = predictionSheets(prediction, title, { largest: true });
      await deliver(directory, flags, {
        name: 'predict',
        data: { by: flags.by, ...prediction },
        sheets: [...all, predictionTable(prediction, title)],
        shown,
        text: predictionText(prediction),
        figures: prediction.coefficients.length > 0 ? [predictionFigure(prediction, title)] : [],
      });
    } finally {
      done();
      encoded.close();
    }
  });
}
