import { z } from 'zod';
import { analysis, by, limit } from './analysis.ts';

export const predict = analysis({
  name: 'predict',
  summary: 'which symbols and links predict the label, and how well',
  description: 'Predict the labels of unseen texts from walks, and tell what predicts them.',
  needs: [],
  options: z.strictObject({ by, limit }),
  flags: { by: { value: 'column' } },
  files: true,
  run: async ({ run, encoded, signal, progress }, options) => {
    const { walksBy } = await import('../texts/text-columns.ts');
    const { predictLabels } = await import('../measures/prediction.ts');
    const walks = await walksBy(run, await encoded(options.limit), { column: options.by, signal });
    return { by: options.by, ...predictLabels(walks, { onProgress: progress('predict', 'fits') }) };
  },
  tables: async (prediction, source) => {
    const sheets = await import('./predict-sheets.ts');
    const { symbolTitles } = await import('./source.ts');
    const title = await symbolTitles(source);
    return {
      sheets: [...sheets.predictionSheets(prediction, title), sheets.predictionTable(prediction, title)],
      shown: sheets.predictionSheets(prediction, title, { largest: true }),
      text: sheets.predictionText(prediction),
      figures: prediction.coefficients.length > 0 ? [sheets.predictionFigure(prediction, title)] : [],
    };
  },
  examples: [
    ['hsn predict run', 'which symbols and links predict the label'],
    ['hsn predict run --by party', "or another column of the corpus' table"],
    ['hsn predict run --json', ''],
  ],
  notes: `A ridge-penalised logistic regression reads labels off the symbols that walks visit and the links they take. Accuracy is
that on folds it has not seen, beside always telling the most frequent label, with McNemar's exact test; coefficients are
log-odds of a label against all others, the other features held, with intervals of 95 % by Laplace's method. All offline.`,
});
