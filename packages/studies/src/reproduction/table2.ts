import type { LanguageFigures } from '@hidden-schema/hsn';
import type { Sheet, SheetCell } from '../evaluation/sheets.ts';

/** A corpus of Table 2; the paper's Yelp and Yahoo are whole documents. */
export const table2Corpora = ['ptb', 'yahoo', 'yelp'] as const;
export type Table2Corpus = (typeof table2Corpora)[number];

/** HSN(K, L), or the decoder alone. */
export type Table2Model = 'baseline' | { symbols: number; length: number };

/** The models of Table 2 in its order. */
export const table2Models: readonly Table2Model[] = [
  'baseline',
  { symbols: 50, length: 5 },
  { symbols: 50, length: 20 },
  { symbols: 100, length: 5 },
  { symbols: 100, length: 20 },
];

export interface Table2Row {
  corpus: Table2Corpus;
  model: Table2Model;
  steps: number;
  seconds: number;
  figures: LanguageFigures;
}

/** Perplexity and mutual information as printed in Table 2. */
const published: Record<Table2Corpus, readonly (readonly [number, number?])[]> = {
  ptb: [[24.23], [22.47, 9.5], [30.38, 26.06], [20.25, 9.3], [25.48, 23.77]],
  yahoo: [[22], [20.99, 10.42], [22.84, 22.81], [21.01, 11.21], [21.98, 16.13]],
  yelp: [[23.4], [19.72, 10.04], [21.6, 24.93], [19.82, 10.2], [21.13, 18.85]],
};

/** Reconstruction, walk KL and graph KL as printed in its supplement. */
const supplement: Record<Table2Corpus, readonly (readonly [number, number, number] | undefined)[]> = {
  ptb: [undefined, [78.7, 10.3, 0.02], [77.1, 27, 0.1], [79.1, 10.2, 0.11], [77.9, 24, 0.21]],
  yahoo: [undefined, [268.4, 11.4, 0.08], [267, 26, 0.07], [267.7, 12.3, 0.04], [268, 13, 0.3]],
  yelp: [undefined, [312, 11.3, 0.025], [312, 26, 0.1], [312.1, 11.5, 0.16], [312.7, 17, 0.3]],
};

export const table2ModelName = (model: Table2Model): string =>
  model === 'baseline' ? 'decoder alone' : `HSN(${model.symbols}, ${model.length})`;

const placeOf = (model: Table2Model): number =>
  table2Models.findIndex((one) => table2ModelName(one) === table2ModelName(model));

const columns = [
  { title: 'corpus' },
  { title: 'model' },
  { title: 'PPL', digits: 2 },
  { title: 'paper', digits: 2 },
  { title: 'to baseline', digits: 3 },
  { title: 'MI', digits: 2 },
  { title: 'paper', digits: 2 },
  { title: 'MI exact', digits: 2 },
  { title: 'at most', digits: 2 },
  { title: 'Rec', digits: 1 },
  { title: 'paper', digits: 1 },
  { title: 'KL', digits: 2 },
  { title: 'paper', digits: 2 },
  { title: 'KL graph', digits: 2 },
  { title: 'paper', digits: 3 },
  { title: 'symbols' },
  { title: 'steps' },
  { title: 'minutes', digits: 1 },
] as const;

/** Table 2 and its supplement, ours beside the paper's. */
export function table2Sheet(rows: readonly Table2Row[], caption: string): Sheet {
  return {
    name: 'table2',
    title: 'Table 2: perplexity and mutual information, ours beside the paper',
    caption,
    columns: [...columns],
    rows: rows.map((row) => cells(row, rows)),
  };
}

function cells(
  { corpus, model, steps, seconds, figures }: Table2Row,
  all: readonly Table2Row[],
): SheetCell[] {
  const place = placeOf(model);
  const [perplexity, information] = published[corpus][place] ?? [];
  const [reconstruction, walk, graph] = supplement[corpus][place] ?? [];
  const alone = all.find((row) => row.corpus === corpus && row.model === 'baseline')?.figures.perplexity;
  return [
    corpus.toUpperCase(),
    table2ModelName(model),
    figures.perplexity,
    perplexity,
    alone === undefined ? undefined : figures.perplexity / alone,
    figures.mutual_information,
    information,
    figures.mutual_information_exact,
    figures.mutual_information_bound,
    figures.reconstruction,
    reconstruction,
    figures.kl_walk,
    walk,
    figures.kl_graph,
    graph,
    figures.symbols_used,
    steps,
    seconds / 60,
  ];
}
