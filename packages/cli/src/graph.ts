import path from 'node:path';
import type { OpenedRun } from '@hidden-schema/hsn';
import type { GraphFormat } from '@hidden-schema/studies';
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
import { writeOutput } from './output-files.ts';
import { print } from './terminal.ts';
import { wholeNumber } from './text-flags.ts';

interface GraphFlags extends AnalysisFlags {
  samples?: string;
  export?: string;
  threshold: string;
}

const examples = `
Examples:
  $ hsn graph run                          statistics beside random graphs, degree distribution
  $ hsn graph run --samples 50 --json
  $ hsn graph run --export run.gexf        for Gephi; .graphml, .json and .csv likewise
  $ hsn graph run --export run.csv --threshold 0.1

Statistics are those of the paper's appendix on language modelling: edges, diameter, average distance, clustering,
connected components and the largest of them, over sampled graphs, beside Erdős–Rényi graphs with p = 0.5 and of the
same density. The degree distribution is the paper's figure "Empirical degree distributions of inferred schema networks".
An export holds names, words, usage, labels and places of symbols; as CSV, symbols go to a second file, NAME-nodes.csv.
`;

export function register(program: Command): void {
  addAnalysisOptions(
    program
      .command('graph')
      .summary('statistics of the graph found; export for other programs')
      .description('Statistics of the inferred graph beside random ones, and its export.')
      .argument('<run>', 'run folder'),
  )
    .option('--samples <n>', 'graphs drawn of each kind (default: 500, fewer for many symbols)')
    .option('--export <file>', 'write the graph: .gexf, .graphml, .json or .csv')
    .option('--threshold <p>', 'least probability of an exported link', '0.5')
    .option('--limit <n>', `export: ${limitHelp}`)
    .addHelpText('after', examples)
    .action(graph);
}

async function graph(directory: string, flags: GraphFlags): Promise<void> {
  const samples = await wholeNumber('--samples', flags.samples);
  const format = flags.export === undefined ? undefined : await formatOf(flags.export);
  await withAnalysed(directory, flags, (run, signal) =>
    format ? exportGraph(run, flags, format, signal) : statistics(run, directory, flags, samples),
  );
}

async function statistics(
  run: OpenedRun,
  directory: string,
  flags: GraphFlags,
  samples: number | undefined,
): Promise<void> {
  const { linkProbabilities } = await import('@hidden-schema/hsn/graph/link-records');
  const { degreeFigure } = await import('@hidden-schema/studies/evaluation/degree-figure');
  const { degreeSheet, graphSheet } = await import('@hidden-schema/studies/analysis/sheets');
  const { studyGraph } = await import('@hidden-schema/studies/evaluation/graph-samples');
  const { onProgress, done } = await progressOf('sample', 'graphs');
  const probabilities = linkProbabilities(run.model);
  const study = studyGraph(probabilities, run.symbols, {
    seed: run.run.config.seed,
    onProgress,
    ...(samples === undefined ? {} : { samples }),
  });
  done();
  const title = `Degree distribution, ${study.inferred.samples} sampled graphs`;
  const sheet = graphSheet(study);
  await deliver(directory, flags, {
    name: 'graph-statistics',
    data: study,
    sheets: [sheet, degreeSheet(study)],
    shown: [sheet],
    text: study.verdict.text,
    figures: [{ name: 'degree-distribution', title, svg: degreeFigure(study, title) }],
  });
}

async function exportGraph(
  run: OpenedRun,
  flags: GraphFlags,
  format: GraphFormat,
  signal: AbortSignal,
): Promise<void> {
  const base = await import('@hidden-schema/base');
  const { storedMeanings } = await import('@hidden-schema/studies/analysis/stored-meanings');
  const { exportedGraph } = await import('@hidden-schema/studies/analysis/exported');
  const { graphText, nodesCsv } = await import('@hidden-schema/studies/evaluation/graph-export');
  const least = Number(flags.threshold || Number.NaN);
  if (!(least > 0 && least <= 1))
    throw new base.UserError(`--threshold takes a probability above 0 and up to 1, got ${flags.threshold}`);
  const encoded = await encodedOf(run, flags, signal);
  try {
    const meanings = await storedMeanings(run, { encoded, signal });
    const exported = exportedGraph(run, { least, meanings });
    const file = flags.export!;
    await writeOutput(file, graphText(exported, format));
    const nodes = `${file.slice(0, -path.extname(file).length)}-nodes.csv`;
    if (format === 'csv') await writeOutput(nodes, nodesCsv(exported));
    const files = format === 'csv' ? `${file} and ${nodes}` : file;
    print(`${exported.nodes.length} symbols and ${exported.links.length} links written to ${files}\n`);
  } finally {
    encoded.close();
  }
}

async function formatOf(file: string): Promise<GraphFormat> {
  const { UserError } = await import('@hidden-schema/base');
  const { GRAPH_FORMATS } = await import('@hidden-schema/studies/evaluation/graph-export');
  const found = GRAPH_FORMATS.find((format) => path.extname(file).toLowerCase() === `.${format}`);
  if (!found)
    throw new UserError(`--export takes a file ending in .${GRAPH_FORMATS.join(', .')}, got ${file}`);
  return found;
}
