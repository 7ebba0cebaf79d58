import { type Column, formatMeanSd, meanSd } from '@hidden-schema/base/tables';
import type { Sheet } from '@hidden-schema/studies/evaluation/sheets';
import { type Dataset, datasets, type PaperSettings, published } from './experiments.ts';
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

const columns: readonly (Column & { figure?: string })[] = [
  { title: 'graph' },
  { title: 'model' },
  { title: 'seeds', align: 'right' },
  { title: 'AUC', align: 'right', figure: 'auc', digits: 3 },
  { title: '‖G*−G‖', align: 'right', figure: 'frobenius_truth', digits: 2 },
  { title: '‖Gʳ−G‖', align: 'right', figure: 'frobenius_random', digits: 1 },
  { title: 'links', align: 'right', figure: 'edges_sampled', digits: 1 },
  { title: 'true', align: 'right' },
  { title: 'exact', align: 'right' },
  { title: 'NLL', align: 'right', figure: 'nll_authors', digits: 2 },
  { title: 'NLL true', align: 'right', figure: 'nll', digits: 2 },
  { title: 'KL-z', align: 'right', figure: 'kl_walk', digits: 2 },
  { title: 'KL-G', align: 'right', figure: 'kl_graph', digits: 1 },
  { title: 's to 0.99', align: 'right' },
  { title: 's', align: 'right' },
];

/** Tables 1 and 5 with the paper's figures under ours. */
export function table1Sheet(rows: readonly Table1Row[]): Sheet {
  const known = datasets(1, 1).filter((dataset) => rows.some((row) => row.dataset === dataset.name));
  const lines = known.flatMap((dataset) =>
    modelsOf(dataset, rows).flatMap((model) => linesOf(dataset, model, rows)),
  );
  const shown = columns.map(({ figure: _, ...column }) => column);
  return {
    name: 'table1',
    title: 'Tables 1 and 5: graphs whose truth is known',
    columns: shown,
    rows: lines,
  };
}

interface Model {
  method: Method;
  p?: number;
}

/** Each method once, but the paper's settings once for each prior that was tried or is printed. */
function modelsOf(dataset: Dataset, rows: readonly Table1Row[]): Model[] {
  const tried = rows.flatMap((row) => (row.dataset === dataset.name && row.p !== undefined ? [row.p] : []));
  const priors = [...new Set([...dataset.priors, ...tried])].sort((a, b) => a - b);
  return (Object.keys(titles) as Method[]).flatMap((method): Model[] =>
    method === 'paper' ? priors.map((p) => ({ method, p })) : [{ method }],
  );
}

function linesOf(dataset: Dataset, { method, p }: Model, all: readonly Table1Row[]): string[][] {
  const rows = all.filter((row) => row.dataset === dataset.name && row.method === method && row.p === p);
  const paper = published[`${dataset.name}/${method}${p === undefined ? '' : ` ${p}`}`];
  if (rows.length === 0 && !paper) return [];
  const ours = columns.map(({ title, figure, digits }) => {
    if (figure) return statistic(rows, (row) => row.figures[figure], digits);
    if (title !== 'model') return described(title, dataset, rows);
    const preset = p === undefined ? undefined : presets[rows[0]?.settings ?? 'near'](p);
    return [titles[method], preset].filter(Boolean).join(', ');
  });
  if (!paper) return [ours];
  const theirs = columns.map(({ title, figure }) => {
    if (title === 'model') return '  the paper';
    return (figure && paper[figure]) ?? '';
  });
  return rows.length === 0 ? [theirs] : [ours, theirs];
}

function described(title: string, dataset: Dataset, rows: readonly Table1Row[]): string {
  switch (title) {
    case 'graph':
      return dataset.title;
    case 'seeds':
      return String(rows.length);
    case 'true':
      return statistic(rows, (row) => row.figures.edges_truth, 0);
    case 'exact':
      return exactSeeds(rows);
    case 's to 0.99':
      return statistic(rows, (row) => row.secondsToAuc99, 1);
    default:
      return statistic(rows, (row) => row.seconds, 0);
  }
}

/** In how many seeds every link and no other was found. */
function exactSeeds(rows: readonly Table1Row[]): string {
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
