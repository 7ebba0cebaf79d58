import type { Column, TableFormat } from '@hidden-schema/base';
import { aboveGuessing } from '@hidden-schema/hsn/tasks/tuples/path/path-accuracy';
import { type Sheet, sheetText } from '../drawing/sheets.ts';
import { searchName } from './answers.ts';
import type { Table3 } from './table3.ts';
import type { Table3Difference, Table3Model, Table3Row } from './table3-rows.ts';

const titles: Record<string, string> = {
  constant: 'the constant answer of each relation',
  nearest: 'the nearest training event',
  vote: 'the vote of the 30 nearest',
  kernel: 'the 200 nearest, weighed, and the constant',
  posterior: 'HSN (posterior), has seen the answer',
  alone: "HSN's decoder, walks taken away",
  comet: 'COMET, same decoder',
  bart: 'COMET (BART)',
  file: 'answers of the file',
  'mix-near': 'mixture: neighbours without the classifier',
  'mix-neighbours': 'mixture: neighbours',
  'mix-walks': 'mixture: neighbours + walks',
  'mix-comet': 'mixture: neighbours + COMET',
  'mix-all': 'mixture: neighbours + walks + COMET',
};
const pathTitles: Record<string, string> = {
  lstm: 'LSTM',
  transformer: 'Transformer',
  counts: 'counts',
  prior: 'local prior',
  mlp: 'feed-forward',
};

const titleOf = (model: Table3Model): string =>
  titles[model] ??
  `HSN-AR, ${model
    .slice('ar-'.length)
    .split('+')
    .map((kind) => pathTitles[kind] ?? kind)
    .join(' + ')}`;

/** What the paper's Table 3 says: BLEU-2 and BERTScore. */
const published: readonly (readonly [string, string, string])[] = [
  ['HSN(50, 20) (posterior)', '0.462', '0.694'],
  ['HSN(50, 20)-AR', '0.129', '0.374'],
  ['COMET (GPT2)', '0.225', '0.385'],
  ['COMET (GPT2-XL)', '0.300', '0.638'],
  ['COMET (BART)', '0.330', '0.650'],
];

const right = (title: string): Column => ({ title, align: 'right' });
const columns: readonly Column[] = [
  { title: 'model' },
  { title: 'search' },
  right('BLEU-2'),
  right('without punctuation'),
  right('recall@10'),
  right('BERTScore'),
  right('rescaled'),
  right('BERT recall@10'),
  right('BLEU-1–4 corpus'),
  right('ROUGE-L'),
  right('distinct-2'),
  right('new objects'),
  right('answers'),
  right('with none: BLEU-2'),
  right('recall@10'),
];

const number = (value: number): string => value.toFixed(3);

export const table3Title = 'Table 3: objects of If-Then tuples';

/** The tables, as text. */
export function table3Text(table: Table3, format: TableFormat): string {
  return table3Sheets(table)
    .map((sheet) => sheetText(sheet, format))
    .join('\n');
}

/** Ours and the paper's, how sure the differences are, and what path models find. */
export function table3Sheets(table: Table3): Sheet[] {
  const { rows, differences, paths } = table;
  const theirs = published.map(([title, bleu, bert]) => [
    `the paper: ${title}`,
    '',
    bleu,
    '',
    '',
    '',
    bert,
    ...Array.from({ length: columns.length - 7 }, () => ''),
  ]);
  const main = { name: 'table3', title: table3Title, columns, rows: [...rows.map(cells), ...theirs] };
  return [
    { ...main, caption: table3Caption(table).replaceAll('\n', ' ').trim() },
    ...(differences.length === 0 ? [] : [differencesSheet(differences)]),
    ...(paths.length === 0 ? [] : [pathsSheet(paths)]),
  ];
}

const pathColumns: readonly Column[] = [
  { title: 'path model' },
  right('symbols found'),
  right('after its own'),
  right('guessed after the one before'),
  right('guessed step by step'),
  right('of what guessing misses'),
];

/** How much of second halves each path model finds, beside what guessing does. */
function pathsSheet(paths: Table3['paths']): Sheet {
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  const rows = paths.map(({ path, figures: f }) => [
    pathTitles[path] ?? path,
    ...[f.accuracy, f.accuracy_free, f.baseline_previous, f.baseline_majority, aboveGuessing(f)].map(percent),
  ]);
  return {
    name: 'table3-paths',
    title: 'Symbols of second halves that path models find',
    columns: pathColumns,
    rows,
  };
}

function cells({ model, search, figures: f, kept }: Table3Row): string[] {
  return [
    titleOf(model),
    search ? searchName(search) : '',
    ...[
      f.bleu_sentence[1]!,
      f.bleu2_words,
      f.recall_10,
      f.bert_score,
      f.bert_score_rescaled,
      f.bert_recall_10,
    ].map(number),
    f.bleu_corpus.map(number).join(' '),
    ...[f.rouge_l, f.distinct_2].map(number),
    f.novel_objects === undefined ? '' : number(f.novel_objects),
    f.answers.toFixed(1),
    ...[kept.bleu_sentence[1]!, kept.recall_10].map(number),
  ];
}

const against: readonly Table3Model[] = [
  'comet',
  'file',
  'constant',
  'vote',
  'kernel',
  'mix-near',
  'mix-neighbours',
  'mix-walks',
  'mix-comet',
];

/** A line for each row of HSN-AR and measure, with the middle 95 % of the paired bootstrap. */
function differencesSheet(differences: readonly Table3Difference[]): Sheet {
  const keys = new Map<string, Table3Difference[]>();
  for (const one of differences) {
    const key = [titleOf(one.model), one.search ? searchName(one.search) : '', one.measure].join('\t');
    keys.set(key, [...(keys.get(key) ?? []), one]);
  }
  const shown = (all: readonly Table3Difference[], other: Table3Model): string => {
    const one = all.find((difference) => difference.against === other);
    if (!one) return '';
    const signed = (value: number) => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`;
    return `${signed(one.difference)} [${signed(one.low)}, ${signed(one.high)}]`;
  };
  const rows = [...keys].map(([key, all]) => [
    ...key.split('\t'),
    ...against.map((other) => shown(all, other)),
  ]);
  const heads = ['model', 'search', 'measure'].map((title) => ({ title }));
  const others = [
    '− COMET, same search',
    '− the file',
    '− constant',
    '− vote of 30',
    '− 200 nearest weighed',
    '− without classifier',
    '− neighbours',
    '− neighbours + walks',
    '− neighbours + COMET',
  ].map(right);
  const title = 'HSN-AR and mixtures less the other, with the middle 95 % of the paired bootstrap';
  return { name: 'table3-differences', title, columns: [...heads, ...others], rows };
}

/** How it was measured, for under the table. */
export function table3Caption({ split, rows, bertModel }: Table3): string {
  const [first] = rows;
  return `${first!.figures.questions} (event, relation) of ${split === 'file' ? "the file's" : split} events, none of them trained on; ${first!.kept.questions} with those that say
"none" alone. BLEU-2 is the mean over them of NLTK's sentence BLEU (smoothing: method 1) with all references; corpus BLEU
is without smoothing. recall@10 is the share of different references (of ten at most) among ten different answers, BERT
recall@10 how near the nearest answer comes to each reference. BERTScore is F1 with the best reference, by ${bertModel},
and rescaled by the mean of unrelated objects. Differences have the middle 95 % of a paired bootstrap over questions.
Searches are the same on both sides: greedy; a beam of N texts, for HSN-AR of each of √N walks; N draws, for HSN-AR of walk
and words; the best of N training objects, the same for all (those that the nearest events and the relation have most often), by
the probability of the object, for HSN-AR of its own walk and of the object after it, and first, as for the floors, the one with
the highest BLEU-2 that is expected by these probabilities. HSN-AR's objects are
sorted by the probability of walk and object, summed over the walks that lead to one. Path models: symbols of second halves of
unseen test tuples found from the true ones before; guessing takes the commonest after the true one before. HSN (posterior) sees an answer and is an upper bound. The paper's figures are of BERT
and GPT-2 trained on all 710 000 ATOMIC tuples and scored with another encoder: compare within ours and within theirs.
`;
}
