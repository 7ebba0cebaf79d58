import { type Column, formatTable, type TableFormat, UserError } from '@hidden-schema/base';
import {
  type OpenedReasoning,
  openReasoner,
  openReasoning,
  openTuples,
  type PathKind,
  type Prefix,
  pathKinds,
  type TupleCorpus,
  tokenise,
} from '@hidden-schema/hsn';
import { openPretrainedEncoder } from '@hidden-schema/transformers';
import { type BertScore, BertScorer } from '../evaluation/bert-score.ts';
import {
  cometObjects,
  type GeneratedObject,
  type ObjectFigures,
  objectFigures,
  reasonedObjects,
  reconstructedObjects,
  testPrefixes,
} from '../reasoning/evaluation.ts';

/** A model of Table 3. */
export type Table3Model = 'posterior' | `ar-${PathKind}` | 'comet';

export interface Table3Row {
  model: Table3Model;
  /** HSN-AR: walks in the beam; without one, symbol after symbol. */
  beam?: number;
  figures: ObjectFigures;
  /** A few of its objects. */
  examples: GeneratedObject[];
}

export interface Table3Options {
  /** A run of COMET. */
  comet?: string;
  /** Test (s, r) used, at most. */
  limit?: number;
  /** How second halves are searched; both ways unless given. */
  search?: 'greedy' | 'beam';
  /** Walks in a beam, 5 unless given. */
  beam?: number;
  /** BERTScore: the encoder's layer, and whether tokens are weighed by idf over the references. */
  layer?: number;
  idf?: boolean;
  onProgress?: (text: string) => void;
}

const exampleCount = 5;

/** Objects of a network, of its path models and of COMET for unseen events, each against all references. */
export async function evaluateReasoning(run: string, options: Table3Options = {}): Promise<Table3Row[]> {
  const opened = await openReasoning(run);
  if (opened.config.baseline)
    throw new UserError(`${run} is COMET; give the run of a network, and this one with --comet`);
  try {
    const { corpus, tokens } = await openTuples(opened);
    const prefixes = testPrefixes(corpus, options.limit);
    const scoring = await scoringOf(prefixes, options);
    const rows: Table3Row[] = [];
    const add = async (
      kind: Pick<Table3Row, 'model' | 'beam'>,
      write: () => Promise<GeneratedObject[]>,
    ): Promise<void> => {
      options.onProgress?.(`${titleOf(kind)}: writing objects`);
      const generated = await write();
      const figures = await objectFigures(generated, corpus, scoring);
      const step = Math.max(1, Math.floor(generated.length / exampleCount));
      const examples = generated.filter((_, i) => i % step === 0).slice(0, exampleCount);
      rows.push({ ...kind, figures, examples });
    };
    await add({ model: 'posterior' }, () => reconstructedObjects(opened, tokens, prefixes));
    for (const kind of pathKinds(opened.run.directory)) {
      const reasoner = await openReasoner(run, { path: kind });
      const { search, beam = 5 } = options;
      const model = `ar-${kind}` as const;
      if (search !== 'beam')
        await add({ model }, () => reasonedObjects(reasoner, tokens, prefixes, { how: 'greedy' }));
      if (search !== 'greedy')
        await add({ model, beam }, () =>
          reasonedObjects(reasoner, tokens, prefixes, { how: 'beam', count: beam }),
        );
      reasoner.free();
    }
    const { comet } = options;
    if (comet) await add({ model: 'comet' }, () => cometRow(comet, opened, corpus, prefixes));
    return rows;
  } finally {
    opened.model.free();
  }
}

async function cometRow(
  directory: string,
  network: OpenedReasoning,
  corpus: TupleCorpus,
  prefixes: readonly Prefix[],
): Promise<GeneratedObject[]> {
  const comet = await openReasoning(directory);
  try {
    if (comet.run.record.corpus.fingerprint !== network.run.record.corpus.fingerprint)
      throw new UserError(`${directory} was trained on other tuples than ${network.run.directory}`);
    return await cometObjects(comet, await tokenise(comet, corpus.table), prefixes);
  } finally {
    comet.model.free();
  }
}

/** One scorer and one baseline for all models that are compared. */
async function scoringOf(
  prefixes: readonly Prefix[],
  { layer, idf }: Table3Options,
): Promise<{ scorer: BertScorer; baseline: BertScore }> {
  const references = prefixes.flatMap((prefix) => prefix.references);
  const encoder = await openPretrainedEncoder();
  encoder.encoder.train(false);
  const scorer = await BertScorer.of(encoder, {
    ...(layer === undefined ? {} : { layer }),
    ...(idf ? { idf: references } : {}),
  });
  return { scorer, baseline: await scorer.baseline(references) };
}

const titles: Record<Table3Model, string> = {
  posterior: 'HSN (posterior)',
  'ar-lstm': 'HSN-AR, LSTM',
  'ar-transformer': 'HSN-AR, Transformer',
  comet: 'COMET, same decoder',
};

const titleOf = ({ model, beam }: Pick<Table3Row, 'model' | 'beam'>): string =>
  beam === undefined ? titles[model] : `${titles[model]}, beam of ${beam}`;

/** What the paper's Table 3 says: BLEU-2 and BERTScore. */
const published: readonly (readonly [string, string, string])[] = [
  ['HSN(50, 20) (posterior)', '0.462', '0.694'],
  ['HSN(50, 20)-AR', '0.129', '0.374'],
  ['COMET (GPT2)', '0.225', '0.385'],
  ['COMET (GPT2-XL)', '0.300', '0.638'],
  ['COMET (BART)', '0.330', '0.650'],
];

const columns: readonly Column[] = [
  { title: 'model' },
  { title: 'BLEU-2', align: 'right' },
  { title: 'BERTScore', align: 'right' },
  { title: 'rescaled', align: 'right' },
  { title: 'BLEU-2 corpus', align: 'right' },
  { title: 'distinct-1', align: 'right' },
  { title: 'distinct-2', align: 'right' },
  { title: 'new tuples', align: 'right' },
  { title: 'new objects', align: 'right' },
  { title: 'objects', align: 'right' },
];

/** Ours, then the paper's. */
export function table3Text(rows: readonly Table3Row[], format: TableFormat): string {
  const number = (value: number) => value.toFixed(3);
  const ours = rows.map(({ figures: f, ...kind }) => [
    titleOf(kind),
    ...[f.bleu2, f.bert_score, f.bert_score_rescaled, f.bleu2_corpus].map(number),
    ...[f.distinct_1, f.distinct_2, f.novel_tuples, f.novel_objects].map(number),
    String(f.objects),
  ]);
  const theirs = published.map(([title, bleu, bert]) => [
    `the paper: ${title}`,
    bleu,
    '',
    bert,
    ...Array.from({ length: columns.length - 4 }, () => ''),
  ]);
  return formatTable(columns, [...ours, ...theirs], format);
}

/** What differs from the paper, for under the table. */
export const table3Caption = `BLEU-2 is the mean over relations of NLTK's sentence BLEU with all references of (event, relation), as COMET's program
has it; BERTScore is F1 with the best reference, by the embedded MiniLM, and rescaled by the mean of unrelated objects.
The paper's figures are of BERT and GPT-2 trained on all 710 000 ATOMIC tuples and scored with another encoder, so
compare models within ours and within theirs, not across. HSN (posterior) sees the object that it writes again.
A beam keeps several walks, writes an object from each, and takes the most probable pair of walk and object; COMET and
the other rows take the best symbol and token after the one before.
`;
