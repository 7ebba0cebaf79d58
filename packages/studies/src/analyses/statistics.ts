import { z } from 'zod';
import { analysis, given } from './analysis.ts';

export const statistics = analysis({
  name: 'statistics',
  verb: 'graph',
  summary: 'statistics of the graph found; export for other programs',
  description: 'Statistics of the inferred graph beside random ones, and its export.',
  needs: [],
  options: z.strictObject({
    samples: z
      .int()
      .min(1)
      .optional()
      .describe('graphs drawn of each kind (default: 500, fewer for many symbols)'),
  }),
  files: true,
  run: async ({ run, progress }, { samples }) => {
    const { linkProbabilities } = await import('@hidden-schema/hsn/graph/likely');
    const { studyGraph } = await import('../measures/graph-samples.ts');
    return studyGraph(linkProbabilities(run.model), run.symbols, {
      seed: run.run.config.seed,
      onProgress: progress('sample', 'graphs'),
      ...given('samples', samples),
    });
  },
  tables: async (study) => {
    const { degreeSheet, graphSheet } = await import('./sheets.ts');
    const { degreeFigure } = await import('../drawing/degree-figure.ts');
    const title = `Degree distribution, ${study.inferred.samples} sampled graphs`;
    const sheet = graphSheet(study);
    return {
      name: 'graph-statistics',
      sheets: [sheet, degreeSheet(study)],
      shown: [sheet],
      text: study.verdict.text,
      figures: [{ name: 'degree-distribution', title, svg: degreeFigure(study, title) }],
    };
  },
  examples: [
    ['hsn graph run', 'statistics beside random graphs, degree distribution'],
    ['hsn graph run --samples 50 --json', ''],
    ['hsn graph run --export run.gexf', 'for Gephi; .graphml, .json and .csv likewise'],
    ['hsn graph run --export run.csv --threshold 0.1', ''],
  ],
  notes: `Statistics are those of the paper's appendix on language modelling: edges, diameter, average distance, clustering,
connected components and the largest of them, over sampled graphs, beside Erdős–Rényi graphs with p = 0.5 and of the
same density. The degree distribution is the paper's figure "Empirical degree distributions of inferred schema networks".
An export holds names, words, usage, labels and places of symbols; as CSV, symbols go to a second file, NAME-nodes.csv.`,
});
