import { graphCells, graphColumns } from '@hidden-schema/studies/analyses/sheets';
import type { Sheet } from '@hidden-schema/studies/drawing/sheets';
import type { GraphStudy } from '@hidden-schema/studies/measures/graph-samples';
import type { AttentionStudy } from '@hidden-schema/studies/symbols/attention';
import { publishedAttention, publishedGraphs } from './published.ts';

export interface StudiedRun {
  name: string;
  symbols: number;
  length: number;
  study: GraphStudy;
}

/** Table 4 with our runs above the paper's rows of the same size, or of HSN(50, 5) where there is none. */
export function graphTable(runs: readonly StudiedRun[]): Sheet {
  const sizes = runs.map(({ symbols, length }) => ({ symbols, length }));
  const same = publishedGraphs.filter((row) =>
    sizes.some(({ symbols, length }) => row.symbols === symbols && row.length === length),
  );
  const paper =
    same.length > 0 ? same : publishedGraphs.filter((row) => row.symbols === 50 && row.length === 5);
  return {
    name: 'table4',
    title: 'Graph statistics, ours beside the paper’s Table 4',
    columns: [{ title: 'model' }, { title: 'corpus' }, ...graphColumns],
    rows: [
      ...runs.flatMap(({ name, symbols, length, study }) => [
        [`HSN(${symbols}, ${length})`, name, ...graphCells(study.inferred)],
        ['  random, p = 0.5', '', ...graphCells(study.half)],
        [`  random, p = ${study.inferred.density.toFixed(2)}`, '', ...graphCells(study.sameDensity)],
      ]),
      ...paper.map((row) => [
        `paper, HSN(${row.symbols}, ${row.length})`,
        row.corpus,
        ...row.cells,
        undefined,
      ]),
    ],
  };
}

/** Table 7: the first, middle and last of our layers, as the paper has of its twelve; then the paper's. */
export function attentionTable(study: AttentionStudy, model = 'ours'): Sheet {
  const middle = Math.max(1, Math.round((5 / 12) * study.layers));
  const layers = [...new Set([1, middle, study.layers])];
  const [first, second, third] = study.words.map(({ word }) => word);
  const same = publishedAttention.words.every((word) => study.words.some((ours) => ours.word === word));
  // Of other words those pairs that stand where the paper's do.
  const pairs: readonly (readonly [string, string])[] = same
    ? publishedAttention.pairs
    : [[first!, second!], ...(third ? [[first!, third] as const, [third, second!] as const] : [])];
  const ours = study.kl.filter(({ layer }) => layers.includes(layer));
  return {
    name: 'table7',
    title: 'Which symbols words attend to, ours beside the paper’s Table 7',
    columns: [
      { title: 'model' },
      { title: 'layer', align: 'left' },
      ...pairs.map(([a, b]) => ({ title: `KL(${a}, ${b})`, digits: 3, align: 'right' as const })),
    ],
    rows: [
      ...ours.map(({ layer, pairs: found }) => [
        model,
        `${layer} of ${study.layers}`,
        ...pairs.map(([a, b]) => found.find((pair) => pair.a === a && pair.b === b)?.kl),
      ]),
      ...publishedAttention.layers.map(({ layer, kl }) => [
        same ? 'paper' : 'paper: good bad, good great, great bad',
        `${layer} of 12`,
        ...pairs.map((_, at) => kl[at]),
      ]),
    ],
  };
}
