import { type MeanSd, meanSd } from '@hidden-schema/base/tables';
import type { LanguageFigures } from '@hidden-schema/hsn/tasks/language/task';
import type { Sheet, SheetCell } from '@hidden-schema/studies/evaluation/sheets';
import type { PresetName } from './presets/preset.ts';

/** A corpus of Table 2; the paper's Yelp and Yahoo are whole documents. */
export const table2Corpora = ['ptb', 'yahoo', 'yelp'] as const;
type Table2Corpus = (typeof table2Corpora)[number];

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
  /** One of the paper's, or any other. */
  corpus: string;
  model: Table2Model;
  /** Ours unless given. */
  settings?: 'ours' | PresetName;
  seed: number;
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

type Supplement = readonly [information: string, reconstruction: string, walk: string, graph: string];

/** Information, reconstruction, walk KL and graph KL over five runs as printed in Table 6. */
const supplement: Record<Table2Corpus, readonly (Supplement | undefined)[]> = {
  ptb: [
    undefined,
    ['9.3 ± 0.2', '78.7 ± 0.2', '10.3 ± 0.2', '0.02 ± 0.01'],
    ['25.3 ± 0.9', '77.1 ± 0.4', '27 ± 1', '0.1 ± 0.2'],
    ['9.1 ± 0.3', '79.1 ± 0.2', '10.2 ± 0.3', '0.11 ± 0.02'],
    ['23 ± 1', '77.9 ± 0.3', '24 ± 1', '0.21 ± 0.05'],
  ],
  yahoo: [
    undefined,
    ['10.2 ± 0.4', '268.4 ± 0.4', '11.4 ± 0.5', '0.08 ± 0.04'],
    ['25 ± 2', '267 ± 1', '26 ± 3', '0.07 ± 0.1'],
    ['10.8 ± 0.4', '267.7 ± 0.5', '12.3 ± 0.6', '0.04 ± 0.04'],
    ['13 ± 5', '268 ± 1', '13 ± 5', '0.3 ± 0.1'],
  ],
  yelp: [
    undefined,
    ['10.0 ± 0.2', '312.0 ± 0.5', '11.3 ± 0.2', '0.025 ± 0.009'],
    ['24 ± 2', '312 ± 3', '26 ± 3', '0.1 ± 0.1'],
    ['10.1 ± 0.2', '312.1 ± 0.5', '11.5 ± 0.3', '0.16 ± 0.02'],
    ['18 ± 3', '312.7 ± 0.6', '17 ± 3', '0.3 ± 0.1'],
  ],
};

const isPaperCorpus = (name: string): name is Table2Corpus =>
  (table2Corpora as readonly string[]).includes(name);

const table2ModelName = (model: Table2Model): string =>
  model === 'baseline' ? 'decoder alone' : `HSN(${model.symbols}, ${model.length})`;

const placeOf = (model: Table2Model): number =>
  table2Models.findIndex((one) => table2ModelName(one) === table2ModelName(model));

const columns = [
  { title: 'corpus' },
  { title: 'model' },
  { title: 'preset' },
  { title: 'seeds' },
  { title: 'PPL', digits: 2 },
  { title: 'PPL, Eq. 34', digits: 2 },
  { title: 'paper', digits: 2 },
  { title: 'to baseline', digits: 3 },
  { title: 'MI', digits: 2 },
  { title: 'paper', digits: 2 },
  { title: 'paper, 5 runs', align: 'right' },
  { title: 'MI exact', digits: 2 },
  { title: 'at most', digits: 2 },
  { title: 'Rec', digits: 1 },
  { title: 'paper', align: 'right' },
  { title: 'KL', digits: 2 },
  { title: 'paper', align: 'right' },
  { title: 'KL graph', digits: 2 },
  { title: 'paper', align: 'right' },
  { title: 'symbols', digits: 0 },
  { title: 'steps' },
  { title: 'minutes', digits: 1 },
] as const;

/** Tables 2 and 6, ours as mean and standard deviation over seeds beside the paper's. */
export function table2Sheet(rows: readonly Table2Row[], caption: string): Sheet {
  const corpora = [...new Set(rows.map(({ corpus }) => corpus))];
  return {
    name: 'table2',
    title: 'Tables 2 and 6: perplexity and mutual information, ours beside the paper',
    caption,
    columns: [...columns],
    rows: corpora.flatMap((corpus) =>
      table2Models.flatMap((model) => {
        const own = rows.filter((row) => row.corpus === corpus && placeOf(row.model) === placeOf(model));
        return own.length === 0 ? [] : [cells(own, rows)];
      }),
    ),
  };
}

function cells(own: readonly Table2Row[], all: readonly Table2Row[]): SheetCell[] {
  const { corpus, model, settings = 'ours', steps } = own[0]!;
  const place = placeOf(model);
  const known = isPaperCorpus(corpus) ? corpus : undefined;
  const [perplexity, information] = (known && published[known][place]) ?? [];
  const [told, reconstruction, walk, graph] = (known && supplement[known][place]) ?? [];
  const alone = all.filter((row) => row.corpus === corpus && row.model === 'baseline');
  const baseline = over(alone, ({ figures }) => figures.perplexity)?.mean;
  const mean = (name: Exclude<keyof LanguageFigures, 'steps' | 'evidence'>) =>
    over(own, ({ figures }) => figures[name]);
  return [
    corpus.toUpperCase(),
    table2ModelName(model),
    settings,
    own.length,
    mean('perplexity'),
    mean('perplexity_paper'),
    perplexity,
    baseline === undefined ? undefined : over(own, ({ figures }) => figures.perplexity / baseline),
    mean('mutual_information'),
    information,
    told,
    mean('mutual_information_exact'),
    mean('mutual_information_bound'),
    mean('reconstruction'),
    reconstruction,
    mean('kl_walk'),
    walk,
    mean('kl_graph'),
    graph,
    mean('symbols_used'),
    steps,
    over(own, ({ seconds }) => seconds / 60),
  ];
}

function over(rows: readonly Table2Row[], value: (row: Table2Row) => number | undefined): MeanSd | undefined {
  const values = rows.flatMap((row) => value(row) ?? []);
  return values.length === 0 ? undefined : meanSd(values);
}
