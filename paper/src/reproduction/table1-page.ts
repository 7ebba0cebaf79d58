import { type Column, formatMeanSd, meanSd } from '@hidden-schema/base/tables';
import type { Sheet } from '@hidden-schema/studies/drawing/sheets';
import { filled } from './columns.ts';
import { type Dataset, datasets, type PaperSettings } from './experiments.ts';
import { publishedRecovery } from './published.ts';
import type { Method, Table1Row } from './table1.ts';

const titles: Record<Method, string> = {
  hsn: 'HSN, closed-form graph',
  paper: 'HSN',
  lstm: 'LSTM',
  counting: 'counting of pairs',
  'baum-welch': 'Baum-Welch',
};

const presets: Record<PaperSettings, (p: number) => string> = {
  near: (p) => `near the paper, p = ${p}`,
  paper: (p) => `paper preset, p = ${p}`,
  authors: () => "authors' preset",
};

/** A model on a graph, over its seeds. */
interface Model {
  dataset: Dataset;
  method: Method;
  p?: number;
  rows: readonly Table1Row[];
}

/** A column: of a figure, which the paper may have too, or of what a row is. */
interface Shown extends Column {
  of: (model: Model) => string;
  figure?: string;
}

const figure = (title: string, name: string, digits: number): Shown => ({
  ...{ title, align: 'right', figure: name, digits },
  of: ({ rows }) => statistic(rows, (row) => row.figures[name], digits),
});

const described = (title: string, of: Shown['of']): Shown => ({ title, align: 'right', of });

const columns: readonly Shown[] = [
  { title: 'graph', of: ({ dataset }) => dataset.title },
  { title: 'model', of: modelTitle },
  described('seeds', ({ rows }) => String(rows.length)),
  figure('AUC', 'auc', 3),
  figure('‖G*−G‖', 'frobenius_truth', 2),
  figure('‖Gʳ−G‖', 'frobenius_random', 1),
  figure('links', 'edges_sampled', 1),
  described('true', ({ rows }) => statistic(rows, (row) => row.figures.edges_truth, 0)),
  described('exact', exactSeeds),
  figure('NLL', 'nll_authors', 2),
  figure('NLL true', 'nll', 2),
  figure('KL-z', 'kl_walk', 2),
  figure('KL-G', 'kl_graph', 1),
  described('s to 0.99', ({ rows }) => statistic(rows, (row) => row.secondsToAuc99, 1)),
  described('s', ({ rows }) => statistic(rows, (row) => row.seconds, 0)),
];

/** Tables 1 and 5 with the paper's figures under ours. */
export function table1Sheet(rows: readonly Table1Row[]): Sheet {
  const known = datasets(1, 1).filter(({ name }) => rows.some(({ dataset }) => dataset === name));
  const lines = known.flatMap((dataset) => modelsOf(dataset, rows).flatMap(linesOf));
  return {
    name: 'table1',
    title: 'Tables 1 and 5: graphs whose truth is known',
    ...filled(
      columns.map(({ figure: _, ...column }, at) => ({ ...column, of: (line: string[]) => line[at] })),
      lines,
    ),
  };
}

/** Each method once, but the paper's settings once for each prior that was tried or is printed. */
function modelsOf(dataset: Dataset, all: readonly Table1Row[]): Model[] {
  const own = all.filter((row) => row.dataset === dataset.name);
  const tried = own.flatMap(({ p }) => p ?? []);
  const priors = [...new Set([...dataset.priors, ...tried])].sort((a, b) => a - b);
  return (Object.keys(titles) as Method[]).flatMap((method) => {
    const kinds = method === 'paper' ? priors.map((p) => ({ method, p })) : [{ method }];
    return kinds.map((kind: { method: Method; p?: number }): Model => {
      const rows = own.filter((row) => row.method === method && row.p === kind.p);
      return { dataset, ...kind, rows };
    });
  });
}

/** Ours, and below it what the paper prints of the same. */
function linesOf(model: Model): string[][] {
  const { dataset, method, p, rows } = model;
  const paper = publishedRecovery[`${dataset.name}/${method}${p === undefined ? '' : ` ${p}`}`];
  const ours = rows.length === 0 && !paper ? [] : [columns.map(({ of }) => of(model))];
  if (!paper) return ours;
  const theirs = columns.map(({ title, figure: name }) =>
    title === 'model' ? '  the paper' : ((name && paper[name]) ?? ''),
  );
  return rows.length === 0 ? [theirs] : [...ours, theirs];
}

function modelTitle({ method, p, rows }: Model): string {
  const preset = p === undefined ? undefined : presets[rows[0]?.settings ?? 'near'](p);
  return [titles[method], preset].filter(Boolean).join(', ');
}

/** In how many seeds every link and no other was found. */
function exactSeeds({ rows }: Model): string {
  const known = rows.filter((row) => row.figures.frobenius_truth !== undefined);
  if (known.length === 0) return '–';
  return `${known.filter((row) => row.figures.frobenius_truth! < 0.05).length} of ${known.length}`;
}

function statistic(
  rows: readonly Table1Row[],
  value: (row: Table1Row) => number | undefined,
  digits?: number,
): string {
  return formatMeanSd(meanSd(rows.flatMap((row) => value(row) ?? [])), digits);
}
