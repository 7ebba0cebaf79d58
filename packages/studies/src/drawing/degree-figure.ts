import type { GraphStudy, GraphSummary } from '../measures/graph-samples.ts';
import { drawCurves } from './curves.ts';

/** P(k) of inferred graphs beside random ones, with a band of one standard deviation over graphs (Figure 2). */
export function degreeFigure(
  study: Pick<GraphStudy, 'inferred' | 'half' | 'sameDensity'>,
  title: string,
): string {
  return degreesFigure(
    [
      { name: 'inferred', summary: study.inferred },
      { name: 'random, p = 0.5', summary: study.half, dashed: true },
      {
        name: `random, as dense (p = ${study.inferred.density.toFixed(2)})`,
        summary: study.sameDensity,
        dashed: true,
      },
    ],
    title,
  );
}

/** The same for any graphs, each with a name; of all symbols, or of those in the largest component. */
export function degreesFigure(
  all: readonly { name: string; summary: GraphSummary; dashed?: boolean }[],
  title: string,
  of: 'degrees' | 'largestDegrees' = 'degrees',
): string {
  return drawCurves({
    title,
    xLabel: 'degree k (links to other symbols)',
    yLabel: 'share of symbols P(k)',
    series: all.map(({ name, summary, dashed = false }) => ({
      name,
      dashed,
      plain: true,
      points: summary[of].map(({ degree, mean }) => [degree, mean]),
      band: summary[of].map(({ degree, mean, sd }) => [degree, Math.max(0, mean - sd), mean + sd]),
    })),
  });
}
