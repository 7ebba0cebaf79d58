import path from 'node:path';
import type { OpenedRun } from '@hidden-schema/hsn';
import type { GraphFormat } from '@hidden-schema/studies';
import { encodedOf, limitHelp, withAnalysed } from './analysis.ts';
import type { Flags, Special } from './analysis-verb.ts';
import { writeOutput } from './output-files.ts';
import { print } from './terminal.ts';

/** `hsn graph RUN` prints statistics; --export writes the graph for other programs. */
export const special: Special = {
  extend: (command) =>
    void command
      .option('--export <file>', 'write the graph: .gexf, .graphml, .json or .csv')
      .option('--threshold <p>', 'least probability of an exported link', '0.5')
      .option('--limit <n>', `export: ${limitHelp}`),
  instead: async (directory, _, flags) => {
    if (flags.export === undefined) return false;
    const format = await formatOf(String(flags.export));
    await withAnalysed(directory, flags, (run, signal) => exportGraph(run, flags, format, signal));
    return true;
  },
};

async function exportGraph(
  run: OpenedRun,
  flags: Flags,
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
    const file = String(flags.export);
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
