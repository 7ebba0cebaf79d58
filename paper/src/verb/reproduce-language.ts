import type { Reproduced, ReproduceFlags } from './reproduce.ts';
import { attentionTables } from './reproduce-attention.ts';
import { allDegrees, degreeFigures, graphTables } from './reproduce-graphs.ts';
import { interpolations } from './reproduce-interpolations.ts';
import { allLabels, fourLabels } from './reproduce-labels.ts';
import { runsOf } from './reproduce-run.ts';
import { trainingTimes } from './reproduce-times.ts';

/** A table or figure from trained runs. */
type Reproduction = (runs: readonly string[], flags: ReproduceFlags) => Promise<Reproduced>;

const reproductions: Readonly<Record<string, Reproduction>> = {
  table4: graphTables,
  table7: attentionTables,
  table8: trainingTimes,
  table9: interpolations,
  figure2: degreeFigures,
  figure3: fourLabels,
  figure4: allLabels,
  figure7: attentionTables,
  figure11: allDegrees,
};

/** A table or figure of Section 5 and its appendices, ours beside the paper's. */
export async function reproduceLanguage(name: string, flags: ReproduceFlags): Promise<Reproduced> {
  return { ...(await reproductions[name]!(await runsOf(flags), flags)), name };
}
