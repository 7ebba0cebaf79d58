import { encodedOf } from '@hidden-schema/cli/analysis';
import { say } from '@hidden-schema/cli/terminal';
import type { Reproduced, ReproduceFlags } from './reproduce.ts';
import { different, ofRuns, readAtMost, titleOf } from './reproduce-notes.ts';

const shownLabels = 4;

/** Figure 3: schema distributions of four labels. */
export const fourLabels = (runs: readonly string[], flags: ReproduceFlags): Promise<Reproduced> =>
  labelFigures(runs, flags, {
    name: 'figure3',
    title: 'Figure 3: schema distributions of four labels',
    most: shownLabels,
  });

/** Figures 4 to 6: of all labels. */
export const allLabels = (runs: readonly string[], flags: ReproduceFlags): Promise<Reproduced> =>
  labelFigures(runs, flags, { name: 'figure4', title: 'Figures 4 to 6: schema distributions of all labels' });

async function labelFigures(
  runs: readonly string[],
  flags: ReproduceFlags,
  { name: base, title, most }: { name: string; title: string; most?: number },
): Promise<Reproduced> {
  const { labelMaps } = await import('@hidden-schema/studies/measures/label-maps');
  const { drawLabelMaps } = await import('@hidden-schema/studies/analyses/figures');
  const { divergenceSheet } = await import('@hidden-schema/studies/analyses/sheets');
  const all = await ofRuns(runs, async (run, { directory, suffix, signal }) => {
    const encoded = await encodedOf(run, readAtMost(flags.quick), signal);
    const maps = labelMaps(encoded);
    encoded.close();
    if (maps.maps.length === 0) return { directory };
    const name = `${base}${suffix}`;
    const shown = maps.maps.slice(0, most ?? maps.maps.length);
    return {
      directory,
      labelled: {
        figure: { ...drawLabelMaps(run, shown, `Schema distributions, ${titleOf(run)}`), name },
        sheet: divergenceSheet(maps, maps.divergence, `${name}-divergence`),
        data: { run: directory, ...maps },
      },
    };
  });
  const drawn = all.flatMap(({ labelled }) => labelled ?? []);
  await checkLabels(
    all.filter(({ labelled }) => !labelled).map(({ directory }) => directory),
    drawn.length,
  );
  return {
    name: base,
    title,
    data: drawn.map(({ data }) => data),
    sheets: drawn.map(({ sheet }) => sheet),
    figures: drawn.map(({ figure }) => figure),
    text: `The paper's figures show labels of Yahoo and of Yelp and say that labels alike in meaning lie closer; the divergence puts a number on that. Positions are the same for all labels. ${different}`,
  };
}

/** Runs without labels are left out where others have some. */
async function checkLabels(unlabelled: readonly string[], drawn: number): Promise<void> {
  const { UserError } = await import('@hidden-schema/base');
  if (unlabelled.length === 0) return;
  const which = unlabelled.join(', ');
  if (drawn === 0) throw new UserError(`the corpus of ${which} has no labels; give a run of labelled texts`);
  say(`left out, as their corpora have no labels: ${which}\n`);
}
