import path from 'node:path';
import { progressOf } from '@hidden-schema/cli/analysis';
import type { NamedFigure } from '@hidden-schema/studies/drawing/results';
import type { Sheet } from '@hidden-schema/studies/drawing/sheets';
import type { StudiedRun } from '../reproduction/language-tables.ts';
import type { Reproduced, ReproduceFlags } from './reproduce.ts';
import { corpusOf, different, ofRuns } from './reproduce-notes.ts';

/** Graphs drawn of each kind for a quick look. */
const quickSamples = 40;

async function studied(runs: readonly string[], { quick }: ReproduceFlags): Promise<StudiedRun[]> {
  const { linkProbabilities } = await import('@hidden-schema/hsn/graph/likely');
  const { studyGraph } = await import('@hidden-schema/studies/measures/graph-samples');
  const all = await ofRuns(runs, async (opened): Promise<StudiedRun> => {
    const { model, symbols, length, run } = opened;
    const { onProgress, done } = await progressOf('sample', 'graphs');
    const draws = { onProgress, seed: run.config.seed, ...(quick ? { samples: quickSamples } : {}) };
    const study = studyGraph(linkProbabilities(model), symbols, draws);
    done();
    return { name: corpusOf(opened), symbols, length, study };
  });
  return toldApart(all, runs);
}

/** Runs of one size and corpus by their folders too. */
function toldApart(all: readonly StudiedRun[], runs: readonly string[]): StudiedRun[] {
  const kind = ({ name, symbols, length }: StudiedRun) => `${symbols}-${length}-${name}`;
  return all.map((run, at) => {
    const alike = all.filter((other) => kind(other) === kind(run));
    return alike.length === 1 ? run : { ...run, name: `${run.name}, ${path.basename(runs[at]!)}` };
  });
}

/** Table 4. */
export async function graphTables(runs: readonly string[], flags: ReproduceFlags): Promise<Reproduced> {
  const { graphTable } = await import('../reproduction/language-tables.ts');
  const all = await studied(runs, flags);
  const sheet = graphTable(all);
  const verdicts = all.map(({ name, study }) => `${name}: ${study.verdict.text}`);
  return {
    name: 'table4',
    title: 'Table 4: statistics of the graphs found',
    data: all,
    sheets: [sheet],
    text: [
      `Mean ± sd over ${all[0]!.study.inferred.samples} sampled graphs; edges without loops, distances of the largest component. The paper does not say whether its edges count loops.`,
      ...verdicts,
      different,
    ].join(' '),
  };
}

/** Figure 2: every run in one drawing, beside random graphs as dense as the first. */
export async function degreeFigures(runs: readonly string[], flags: ReproduceFlags): Promise<Reproduced> {
  const all = await studied(runs, flags);
  const title = `Degree distributions, ${all[0]!.study.inferred.samples} sampled graphs`;
  return {
    name: 'figure2',
    title: 'Figure 2: degrees of the graphs found',
    data: all,
    sheets: [degreesSheet(all, 'figure2')],
    figures: [await drawing(all, { name: 'figure2', title })],
    text: `The paper prints curves without numbers, and notes that its graphs differ from simple random ones. ${different}`,
  };
}

/** Figure 11: a drawing for each size, of all symbols and of those in the largest component. */
export async function allDegrees(runs: readonly string[], flags: ReproduceFlags): Promise<Reproduced> {
  const all = await studied(runs, flags);
  const sizes = [...new Set(all.map(({ symbols, length }) => `${symbols}-${length}`))];
  const figures: NamedFigure[] = [];
  for (const size of sizes) {
    const own = all.filter(({ symbols, length }) => `${symbols}-${length}` === size);
    const model = `HSN(${own[0]!.symbols}, ${own[0]!.length})`;
    figures.push(await drawing(own, { name: `figure11-${size}`, title: `Degrees of ${model}` }));
    figures.push(
      await drawing(
        own,
        { name: `figure11-${size}-largest`, title: `Degrees of ${model}, largest component` },
        'largestDegrees',
      ),
    );
  }
  return {
    name: 'figure11',
    title: 'Figure 11: degrees for every corpus and size',
    data: all,
    sheets: [degreesSheet(all, 'figure11')],
    figures,
    text: `The paper shows the largest component for 100 symbols only. ${different}`,
  };
}

async function drawing(
  all: readonly StudiedRun[],
  { name, title }: Omit<NamedFigure, 'svg'>,
  of: 'degrees' | 'largestDegrees' = 'degrees',
): Promise<NamedFigure> {
  const { degreesFigure } = await import('@hidden-schema/studies/drawing/degree-figure');
  const { half, sameDensity, inferred } = all[0]!.study;
  const svg = degreesFigure(
    [
      ...all.map(({ name: corpus, symbols, length, study }) => ({
        name: `HSN(${symbols}, ${length}) on ${corpus}`,
        summary: study.inferred,
      })),
      { name: 'random, p = 0.5', summary: half, dashed: true },
      { name: `random, p = ${inferred.density.toFixed(2)}`, summary: sameDensity, dashed: true },
    ],
    title,
    of,
  );
  return { name, title, svg };
}

function degreesSheet(all: readonly StudiedRun[], name: string): Sheet {
  const rows = all.flatMap(({ name: corpus, symbols, length, study }) =>
    [
      [`HSN(${symbols}, ${length}) on ${corpus}`, study.inferred.degrees] as const,
      ['  its largest component', study.inferred.largestDegrees] as const,
      ['  random, p = 0.5', study.half.degrees] as const,
      ['  random, as dense', study.sameDensity.degrees] as const,
    ].map(([graph, degrees]) => {
      const mean = degrees.reduce((sum, { degree, mean: share }) => sum + degree * share, 0);
      const spread = degrees.reduce((sum, { degree, mean: share }) => sum + share * (degree - mean) ** 2, 0);
      return [graph, mean, Math.sqrt(spread)];
    }),
  );
  const columns = [
    { title: 'graph' },
    { title: 'mean degree', digits: 2 },
    { title: 'spread (sd)', digits: 2 },
  ];
  return { name, title: 'Degrees', columns, rows };
}
