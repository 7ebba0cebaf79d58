import { z } from 'zod';
import type { LabelMaps } from '../measures/label-maps.ts';
import { analysis, limit } from './analysis.ts';

export const labels = analysis({
  name: 'labels',
  summary: 'where the sentences of each label go on the graph',
  description: 'Schema distributions of labels, their divergence, and the symbols that speak for each.',
  needs: ['labels'],
  options: z.strictObject({
    only: z.array(z.string()).optional().describe('some of the labels, with commas between'),
    limit,
  }),
  flags: { only: { value: 'labels' } },
  files: true,
  run: async ({ encoded }, options) => {
    const { labelMaps } = await import('../measures/label-maps.ts');
    const texts = await encoded(options.limit);
    return { sentences: texts.count, ...(await chosen(labelMaps(texts), options.only)) };
  },
  tables: async (maps, source) => {
    const { drawDivergence, drawLabelMaps } = await import('./figures.ts');
    const { symbolNames } = await import('../symbols/names.ts');
    const { divergenceSheet, typicalSheet } = await import('./sheets.ts');
    const { meaningsOf } = await import('./source.ts');
    const divergence = divergenceSheet(maps, maps.divergence, 'label-divergence');
    const typical = typicalSheet(maps, symbolNames(source.run.run), await meaningsOf(source));
    const title = `Schema distributions of labels, ${maps.sentences} sentences`;
    return {
      sheets: [typical, divergence, divergenceSheet(maps, maps.edgeDivergence, 'label-divergence-links')],
      shown: [typical, divergence],
      figures: [
        drawLabelMaps(source.run, maps.maps, title),
        ...(maps.maps.length > 1 ? [drawDivergence(maps)] : []),
      ],
    };
  },
  examples: [
    ['hsn labels run', ''],
    ['hsn labels run --only "sport,travel" --json', ''],
    ['hsn labels run --limit 20000 --out figures', ''],
  ],
  notes: `For each label where the walks of its sentences go, over symbols and links, drawn on the run's one stored layout: the
paper's figure "Schema distributions inferred from … for four subsets". Divergence is Jensen–Shannon in bits.`,
});

/** The maps of some labels, in the order that these are named in. */
async function chosen(maps: LabelMaps, only: readonly string[] | undefined): Promise<LabelMaps> {
  if (only === undefined) return maps;
  const { UserError } = await import('@hidden-schema/base');
  const places = only.map((name) => {
    const at = maps.maps.findIndex(({ label }) => label === name);
    if (at >= 0) return at;
    const known = maps.maps.map(({ label }) => label).join(', ');
    throw new UserError(`there is no label "${name}"; labels are ${known}`);
  });
  const pick = <T>(all: readonly T[]): T[] => places.map((at) => all[at]!);
  return {
    all: maps.all,
    maps: pick(maps.maps),
    divergence: pick(maps.divergence).map(pick),
    edgeDivergence: pick(maps.edgeDivergence).map(pick),
  };
}
