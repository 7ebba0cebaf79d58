import { type MeanSd, meanSd } from '@hidden-schema/base/tables';
import type { LanguageFigures } from '@hidden-schema/hsn/tasks/language/task';
import type { Sheet } from '@hidden-schema/studies/drawing/sheets';
import { type FilledColumn, filled } from './columns.ts';
import { type Table2Model, table2ModelName, table2Models } from './presets/language.ts';
import type { PresetName } from './presets/preset.ts';
import { type Published, printedNumber, publishedModel } from './published.ts';

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

/** A model on a corpus over its seeds. */
interface Line {
  rows: readonly Table2Row[];
  first: Table2Row;
  /** Mean perplexity of the decoder alone on this corpus. */
  alone: number | undefined;
  printed: Published;
}

const mean =
  (name: Exclude<keyof LanguageFigures, 'steps' | 'evidence'>) =>
  ({ rows }: Line) =>
    over(rows, ({ figures }) => figures[name]);

const columns: readonly FilledColumn<Line>[] = [
  { title: 'corpus', of: ({ first }) => first.corpus.toUpperCase() },
  {
    title: 'model',
    of: ({ first: { model } }) =>
      model === 'baseline' ? 'decoder alone' : `HSN(${model.symbols}, ${model.length})`,
  },
  { title: 'preset', of: ({ first }) => first.settings ?? 'ours' },
  { title: 'seeds', of: ({ rows }) => rows.length },
  { title: 'PPL', digits: 2, of: mean('perplexity') },
  { title: 'PPL, Eq. 34', digits: 2, of: mean('perplexity_paper') },
  { title: 'paper', digits: 2, of: ({ printed }) => printedNumber(printed.perplexity) },
  {
    title: 'to baseline',
    digits: 3,
    of: ({ rows, alone }) =>
      alone === undefined ? undefined : over(rows, ({ figures }) => figures.perplexity / alone),
  },
  { title: 'MI', digits: 2, of: mean('mutual_information') },
  { title: 'paper', digits: 2, of: ({ printed }) => printedNumber(printed.information) },
  { title: 'paper, 5 runs', align: 'right', of: ({ printed }) => printed.told },
  { title: 'MI exact', digits: 2, of: mean('mutual_information_exact') },
  { title: 'at most', digits: 2, of: mean('mutual_information_bound') },
  { title: 'Rec', digits: 1, of: mean('reconstruction') },
  { title: 'paper', align: 'right', of: ({ printed }) => printed.reconstruction },
  { title: 'KL', digits: 2, of: mean('kl_walk') },
  { title: 'paper', align: 'right', of: ({ printed }) => printed.walk },
  { title: 'KL graph', digits: 2, of: mean('kl_graph') },
  { title: 'paper', align: 'right', of: ({ printed }) => printed.graph },
  { title: 'symbols', digits: 0, of: mean('symbols_used') },
  { title: 'steps', of: ({ first }) => first.steps },
  { title: 'minutes', digits: 1, of: ({ rows }) => over(rows, ({ seconds }) => seconds / 60) },
];

/** Tables 2 and 6, ours as mean and standard deviation over seeds beside the paper's. */
export function table2Sheet(all: readonly Table2Row[], caption: string): Sheet {
  const lines = [...new Set(all.map(({ corpus }) => corpus))].flatMap((corpus) => {
    const own = all.filter((row) => row.corpus === corpus);
    const baseline = own.filter(({ model }) => model === 'baseline');
    const alone = over(baseline, ({ figures }) => figures.perplexity)?.mean;
    return table2Models.map(table2ModelName).flatMap((name): Line[] => {
      const rows = own.filter(({ model }) => table2ModelName(model) === name);
      const [first] = rows;
      return first ? [{ rows, first, alone, printed: publishedModel(corpus, name) }] : [];
    });
  });
  return {
    name: 'table2',
    title: 'Tables 2 and 6: perplexity and mutual information, ours beside the paper',
    caption,
    ...filled(columns, lines),
  };
}

function over(rows: readonly Table2Row[], value: (row: Table2Row) => number | undefined): MeanSd | undefined {
  const values = rows.flatMap((row) => value(row) ?? []);
  return values.length === 0 ? undefined : meanSd(values);
}
