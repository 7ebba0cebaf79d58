import type { LabelMaps } from '@hidden-schema/studies';
import type { Command } from 'commander';
import {
  type AnalysisFlags,
  addAnalysisOptions,
  deliver,
  encodedOf,
  limitHelp,
  withAnalysed,
} from './analysis.ts';

interface LabelFlags extends AnalysisFlags {
  only?: string;
}

const examples = `
Examples:
  $ hsn labels run
  $ hsn labels run --only "sport,travel" --json
  $ hsn labels run --limit 20000 --out figures

For each label where the walks of its sentences go, over symbols and links, drawn on the run's one stored layout: the
paper's figure "Schema distributions inferred from … for four subsets". Divergence is Jensen–Shannon in bits.
`;

export function register(program: Command): void {
  addAnalysisOptions(
    program
      .command('labels')
      .summary('where the sentences of each label go on the graph')
      .description('Schema distributions of labels, their divergence, and the symbols that speak for each.')
      .argument('<run>', 'run folder of a corpus with labels'),
  )
    .option('--only <labels>', 'some of the labels, with commas between')
    .option('--limit <n>', limitHelp)
    .addHelpText('after', examples)
    .action(labels);
}

async function labels(directory: string, flags: LabelFlags): Promise<void> {
  const base = await import('@hidden-schema/base');
  const { labelMaps } = await import('@hidden-schema/studies/evaluation/label-maps');
  const { storedMeanings } = await import('@hidden-schema/studies/analysis/stored-meanings');
  const { divergenceSheet, typicalSheet } = await import('@hidden-schema/studies/analysis/sheets');
  const { symbolNames } = await import('@hidden-schema/studies/analysis/names');
  const { drawLabelMaps, drawDivergence } = await import('@hidden-schema/studies/analysis/figures');
  await withAnalysed(directory, flags, async (run, signal) => {
    if (run.labels.length === 0)
      throw new base.UserError(
        `the sentences of ${directory} have no labels, so there is nothing to tell apart`,
      );
    const encoded = await encodedOf(run, flags, signal);
    try {
      const maps = await chosen(labelMaps(encoded), flags.only);
      const meanings = await storedMeanings(run, { encoded, signal });
      const words = (symbol: number) =>
        meanings[symbol]!.words.slice(0, 5)
          .map(({ word }) => word)
          .join(' ');
      const title = `Schema distributions of labels, ${encoded.count} sentences`;
      const divergence = divergenceSheet(maps, maps.divergence, 'label-divergence');
      const typical = typicalSheet(maps, symbolNames(run.run), words);
      await deliver(directory, flags, {
        name: 'labels',
        data: { sentences: encoded.count, ...maps },
        sheets: [typical, divergence, divergenceSheet(maps, maps.edgeDivergence, 'label-divergence-links')],
        shown: [typical, divergence],
        figures: [
          drawLabelMaps(run, maps.maps, title),
          ...(maps.maps.length > 1 ? [drawDivergence(maps)] : []),
        ],
      });
    } finally {
      encoded.close();
    }
  });
}

/** All labels, or those asked for, in that order. */
async function chosen(maps: LabelMaps, only: string | undefined): Promise<LabelMaps> {
  const { UserError } = await import('@hidden-schema/base');
  if (only === undefined) return maps;
  const places = only.split(',').map((name) => {
    const at = maps.maps.findIndex(({ label }) => label === name.trim());
    if (at >= 0) return at;
    const known = maps.maps.map(({ label }) => label).join(', ');
    throw new UserError(`there is no label "${name.trim()}"; labels are ${known}`);
  });
  const pick = <T>(all: readonly T[]): T[] => places.map((at) => all[at]!);
  return {
    all: maps.all,
    maps: pick(maps.maps),
    divergence: pick(maps.divergence).map(pick),
    edgeDivergence: pick(maps.edgeDivergence).map(pick),
  };
}
